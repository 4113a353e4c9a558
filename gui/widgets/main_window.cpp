#include "widgets/main_window.h"

#include <QAction>
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>

#include "models/facts.h"
#include "models/recent_files.h"
#include "models/text.h"
#include "widgets/answer_page.h"
#include "widgets/command_palette.h"
#include "widgets/compare_page.h"
#include "widgets/pages.h"
#include "widgets/picture_file.h"
#include "widgets/pipeline_page.h"
#include "widgets/save_dialog.h"
#include "widgets/sql_page.h"
#include "widgets/start_page.h"
#include "widgets/timeline_page.h"

namespace pleat::widgets {

using State = models::TraceSession::State;

namespace {

// What was in the window last time; raised when panels change, for then it does not fit.
constexpr int kStateVersion = 1;
const QString kGeometryKey = QStringLiteral("window_geometry");
const QString kStateKey = QStringLiteral("window_state");

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      m_iteration(m_session),
      m_stack(new QStackedWidget(this)),
      m_tabs(new QTabWidget(this)),
      m_compare(new ComparePage(m_session, m_iteration, this)),
      m_facts(new FactsPanel(this)),
      m_path(new PathPanel(m_iteration, this)) {
    setAcceptDrops(true);
    auto* start = new StartPage(m_session, this);
    connect(start, &StartPage::openWanted, this, &MainWindow::chooseFiles);
    m_stack->addWidget(start);
    m_stack->addWidget(m_tabs);
    setCentralWidget(m_stack);
    m_tabs->setDocumentMode(true);
    makePages();
    makePanels();
    makeMenus();
    connect(&m_session, &models::TraceSession::stateChanged, this, &MainWindow::updateState);
    connect(&m_session, &models::TraceSession::noticeChanged, this, &MainWindow::updateNotice);
    // Facts of events of another trace, or of this one before it was read again.
    connect(&m_session, &models::TraceSession::traceChanged, m_facts, &FactsPanel::clear);
    const QSettings settings;
    restoreGeometry(settings.value(kGeometryKey).toByteArray());
    restoreState(settings.value(kStateKey).toByteArray(), kStateVersion);
    updateState();
}

void MainWindow::open(const QStringList& files) {
    opening::OpenRequest request;
    for (const QString& file : files) request.files.emplace_back(file.toStdString());
    open(std::move(request));
}

void MainWindow::open(opening::OpenRequest request) {
    if (request.files.empty()) return;
    QStringList files;
    for (const auto& file : request.files)
        files << QString::fromStdString(std::filesystem::absolute(file).string());
    models::addRecentFiles(files);
    m_session.open(std::move(request));
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
    if (SessionView* view = page(id)) {
        m_tabs->setCurrentWidget(view);
        view->setFocus();  // its keys work at once
    }
}

QString MainWindow::currentPage() const {
    for (const Page& page : m_pages) {
        if (page.view == m_tabs->currentWidget()) return page.id;
    }
    return {};
}

void MainWindow::goTo(const models::Place& place, const SessionView* asking) {
    if (m_session.state() != State::Loaded) return;
    SessionView* front = nullptr;
    for (const Page& page : m_pages) {
        if (!page.view->shows(place)) continue;
        page.view->goTo(place);
        const bool isCurrent = page.view == m_tabs->currentWidget() && page.view != asking;
        if (isCurrent || (front == nullptr && page.view != asking)) front = page.view;
    }
    if (front != nullptr) m_tabs->setCurrentWidget(front);
    showFactsOf(place);
}

QList<QAction*> MainWindow::commands() const {
    QList<QAction*> actions;
    for (const QAction* menu : menuBar()->actions()) {
        if (menu->menu() == nullptr) continue;
        for (QAction* action : menu->menu()->actions()) {
            if (action->menu() == nullptr && !action->isSeparator()) actions << action;
        }
    }
    return actions;
}

QList<KeyHelp> MainWindow::keys() const {
    QList<KeyHelp> keys;
    for (const QAction* action : commands()) {
        if (!action->shortcut().isEmpty())
            keys << KeyHelp{action->shortcut().toString(QKeySequence::NativeText),
                            plainText(*action)};
    }
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        for (const KeyHelp& key : m_pages[i].view->keys())
            keys << KeyHelp{key.key,
                            tr("%1: %2").arg(m_tabs->tabText(static_cast<int>(i)), key.does)};
    }
    return keys;
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

void MainWindow::closeEvent(QCloseEvent* event) {
    QSettings settings;
    settings.setValue(kGeometryKey, saveGeometry());
    settings.setValue(kStateKey, saveState(kStateVersion));
    QMainWindow::closeEvent(event);
}

void MainWindow::addPage(const QString& id, const QString& title, SessionView* view) {
    m_pages.push_back({id, view});
    m_tabs->addTab(view, title);
    view->setAccessibleName(title);
    connect(view, &SessionView::placeChosen, this,
            [this, view](const models::Place& place) { goTo(place, view); });
    connect(view, &SessionView::placePointed, this, &MainWindow::showFactsOf);
    connect(view, &SessionView::factsWanted, m_facts, &FactsPanel::show);
    connect(view, &SessionView::selectionCleared, m_facts, &FactsPanel::clear);
}

QDockWidget* MainWindow::addPanel(const QString& id, const QString& title, QWidget* panel) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(id);  // by which its place is kept
    dock->setWidget(panel);
    addDockWidget(Qt::RightDockWidgetArea, dock);
    m_panels << dock;
    return dock;
}

void MainWindow::makePages() {
    addPage(QStringLiteral("pipeline"), tr("Pipeline"),
            new PipelinePage(m_session, m_iteration, this));
    addPage(QStringLiteral("timeline"), tr("Timeline"),
            new TimelinePage(m_session, m_iteration, this));
    addPage(QStringLiteral("answer"), tr("Answer"), new AnswerPage(m_session, this));
    addPage(QStringLiteral("compare"), tr("Compare"), m_compare);
    addPage(QStringLiteral("sql"), tr("SQL"), new SqlPage(m_session, this));
    addPage(QStringLiteral("diagnostics"), tr("Diagnostics"), new DiagnosticsPage(m_session, this));
    showPage(QStringLiteral("answer"));
}

void MainWindow::makePanels() {
    QDockWidget* facts = addPanel(QStringLiteral("facts"), tr("Details"), m_facts);
    tabifyDockWidget(facts, addPanel(QStringLiteral("critical_path"), tr("Critical path"), m_path));
    facts->raise();
    const auto follow = [this](const models::Place& place) { goTo(place); };
    connect(m_facts, &FactsPanel::placeChosen, this, follow);
    connect(m_path, &PathPanel::placeChosen, this, follow);
    connect(m_path, &PathPanel::factsWanted, m_facts, &FactsPanel::show);
}

void MainWindow::makeMenus() {
    makeFileMenu();
    QMenu* view = menuBar()->addMenu(tr("&View"));
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        const QString id = m_pages[i].id;
        QAction* action = view->addAction(m_tabs->tabText(static_cast<int>(i)), this,
                                          [this, id] { showPage(id); });
        action->setShortcut(QKeySequence(Qt::ALT | Qt::Key(Qt::Key_1 + static_cast<int>(i))));
    }
    view->addSeparator();
    for (QDockWidget* panel : m_panels) view->addAction(panel->toggleViewAction());
    view->addSeparator();
    for (const Page& page : m_pages) addCommandsOf(page, *view);
    QMenu* go = menuBar()->addMenu(tr("&Go"));
    go->addAction(tr("Next piece of the critical path"), this, [this] {
          m_path->step(1);
      })->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Down));
    go->addAction(tr("Previous piece of the critical path"), this, [this] {
          m_path->step(-1);
      })->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Up));
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&Commands…"), this, &MainWindow::showPalette)
        ->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P));
    help->addAction(tr("All &keys…"), this, &MainWindow::showKeys)
        ->setShortcut(QKeySequence(Qt::Key_Question));
}

// What a command changes is seen on its page.
void MainWindow::addCommandsOf(const Page& page, QMenu& menu) {
    for (QAction* action : page.view->commands()) {
        action->setText(tr("%1: %2").arg(page.view->accessibleName(), action->text()));
        menu.addAction(action);
        connect(action, &QAction::triggered, this, [this, id = page.id] { showPage(id); });
    }
}

void MainWindow::makeFileMenu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&Open…"), this, &MainWindow::chooseFiles)->setShortcut(QKeySequence::Open);
    file->addAction(tr("Open a &folder of per-rank files…"), this, &MainWindow::chooseFolder);
    m_recent = file->addMenu(tr("Open &recent"));
    connect(m_recent, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    file->addAction(tr("R&eload"), &m_session, &models::TraceSession::reload)
        ->setShortcut(QKeySequence::Refresh);
    file->addSeparator();
    file->addAction(tr("E&xport the page as a picture…"), this, &MainWindow::exportPicture)
        ->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_E));
    file->addSeparator();
    file->addAction(tr("&Quit"), this, &QWidget::close)->setShortcut(QKeySequence::Quit);
}

void MainWindow::fillRecentMenu() {
    m_recent->clear();
    for (const QStringList& files : models::recentFiles()) {
        const QString title = files.size() == 1
                                  ? files.front()
                                  : tr("%1 and %2 more").arg(files.front()).arg(files.size() - 1);
        m_recent->addAction(models::shownText(title.toStdString()), this,
                            [this, files] { open(files); });
    }
    if (m_recent->isEmpty()) m_recent->addAction(tr("No recent files"))->setEnabled(false);
    m_recent->addSeparator();
    m_recent->addAction(tr("Clear list"), this, [] { models::clearRecentFiles(); });
}

void MainWindow::chooseFiles() {
    open(QFileDialog::getOpenFileNames(
        this, tr("Open a trace"), {},
        tr("Traces (*.pleat *.json *.json.gz *.json.zst *.sqlite);;All files (*)")));
}

void MainWindow::chooseFolder() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a folder of traces"));
    if (!folder.isEmpty()) open(QStringList{folder});
}

void MainWindow::exportPicture() {
    SessionView* view = page(currentPage());
    if (view == nullptr || m_session.state() != State::Loaded) return;
    const QString file = chooseFileToSave(*this, tr("Export the page as a picture"),
                                          tr("Pictures (*.png *.svg *.pdf)"), QStringLiteral("png"),
                                          currentPage() + ".png");
    if (file.isEmpty()) return;
    const QString error = writePicture(*view->picture(), file);
    statusBar()->showMessage(error.isEmpty() ? tr("Wrote %1").arg(file) : error);
}

void MainWindow::showPalette() {
    auto* palette = new CommandPalette(commands(), this);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->open();
}

void MainWindow::showKeys() {
    auto* list = new KeyList(keys(), this);
    list->setAttribute(Qt::WA_DeleteOnClose);
    list->open();
}

void MainWindow::showFactsOf(const models::Place& place) {
    const auto trace = m_session.trace();
    if (!trace || !place.event.valid()) return;
    const auto iteration = m_iteration.results();
    // Of a trace that was read again the iteration may still be the former's.
    const bool current = iteration && iteration->trace == trace;
    m_facts->show(models::shownText(trace->name(place.event)),
                  models::eventFacts(*trace, *m_session.roles(), place.event,
                                     current ? iteration.get() : nullptr));
}

void MainWindow::updateState() {
    m_stack->setCurrentIndex(m_session.state() == State::Loaded ? 1 : 0);
    const QString name = m_session.name();
    setWindowTitle(name.isEmpty() ? tr("Pleat") : tr("%1 – Pleat").arg(name));
}

void MainWindow::updateNotice() { statusBar()->showMessage(m_session.notice()); }

}  // namespace pleat::widgets
