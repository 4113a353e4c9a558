#include "widgets/main_window.h"

#include <QAction>
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QMenuBar>
#include <QMimeData>
#include <QStatusBar>

#include "widgets/pages.h"
#include "widgets/start_page.h"

namespace pleat::widgets {

using State = models::TraceSession::State;

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent), m_stack(new QStackedWidget(this)), m_tabs(new QTabWidget(this)) {
    setAcceptDrops(true);
    auto* start = new StartPage(m_session, this);
    connect(start, &StartPage::openWanted, this, &MainWindow::chooseFiles);
    m_stack->addWidget(start);
    m_stack->addWidget(m_tabs);
    setCentralWidget(m_stack);
    m_tabs->setDocumentMode(true);
    makePages();
    makeMenus();
    connect(&m_session, &models::TraceSession::stateChanged, this, &MainWindow::updateState);
    connect(&m_session, &models::TraceSession::noticeChanged, this, &MainWindow::updateNotice);
    updateState();
}

void MainWindow::open(const QStringList& files) {
    opening::OpenRequest request;
    for (const QString& file : files) request.files.emplace_back(file.toStdString());
    if (!request.files.empty()) m_session.open(std::move(request));
}

QStringList MainWindow::pageIds() const {
    QStringList ids;
    for (const Page& page : m_pages) ids << page.id;
    return ids;
}

SessionView* MainWindow::page(const QString& id) const {
    for (const Page& page : m_pages) {
        if (page.id == id) return page.view;
    }
    return nullptr;
}

void MainWindow::showPage(const QString& id) {
    if (SessionView* view = page(id)) m_tabs->setCurrentWidget(view);
}

QString MainWindow::currentPage() const {
    for (const Page& page : m_pages) {
        if (page.view == m_tabs->currentWidget()) return page.id;
    }
    return {};
}

void MainWindow::goTo(const models::Place& place) {
    if (m_session.state() != State::Loaded) return;
    SessionView* first = nullptr;
    for (const Page& page : m_pages) {
        if (!page.view->shows(place)) continue;
        page.view->goTo(place);
        if (first == nullptr) first = page.view;
    }
    if (first != nullptr) m_tabs->setCurrentWidget(first);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) files << url.toLocalFile();
    }
    open(files);
}

void MainWindow::addPage(const QString& id, const QString& title, SessionView* view) {
    m_pages.push_back({id, view});
    m_tabs->addTab(view, title);
    view->setAccessibleName(title);
    connect(view, &SessionView::placeChosen, this, &MainWindow::goTo);
}

void MainWindow::makePages() {
    addPage(QStringLiteral("diagnostics"), tr("Diagnostics"), new DiagnosticsPage(m_session, this));
}

void MainWindow::makeMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::chooseFiles);
    file->addAction(tr("&Reload"), QKeySequence::Refresh, &m_session,
                    &models::TraceSession::reload);
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence::Quit, qApp, &QApplication::closeAllWindows);
    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        const QString id = m_pages[i].id;
        view->addAction(m_tabs->tabText(static_cast<int>(i)),
                        QKeySequence(Qt::ALT | Qt::Key(Qt::Key_1 + static_cast<int>(i))), this,
                        [this, id] { showPage(id); });
    }
}

void MainWindow::chooseFiles() {
    open(QFileDialog::getOpenFileNames(
        this, tr("Open a trace"), {},
        tr("Traces (*.pleat *.json *.json.gz *.json.zst *.sqlite);;All files (*)")));
}

void MainWindow::updateState() {
    m_stack->setCurrentIndex(m_session.state() == State::Loaded ? 1 : 0);
    const QString name = m_session.name();
    setWindowTitle(name.isEmpty() ? tr("Pleat") : tr("%1 – Pleat").arg(name));
}

void MainWindow::updateNotice() { statusBar()->showMessage(m_session.notice()); }

}  // namespace pleat::widgets
