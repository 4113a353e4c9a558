#include "widgets/compare_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "models/answer_figures.h"
#include "models/compare_figures.h"

namespace pleat::widgets {

using State = models::TraceSession::State;

ComparePage::ComparePage(models::TraceSession& session, models::IterationModel& iteration,
                         QWidget* parent)
    : SessionView(session, parent),
      m_iteration(iteration),
      m_otherIteration(m_other),
      m_comparison(session, m_other),
      m_status(new QLabel(this)),
      m_choose(new QPushButton(tr("Compare &with…"), this)),
      m_view(new PipelineView(this)),
      m_otherView(new PipelineView(this)),
      m_means(new FigureView(this)),
      m_rows(new FigureView(this)) {
    m_status->setTextFormat(Qt::PlainText);
    m_status->setWordWrap(true);
    m_view->setAccessibleName(tr("Pipeline of this run"));
    m_otherView->setAccessibleName(tr("Pipeline of the other run"));
    m_means->setAccessibleName(tr("Where the mean iterations differ"));
    m_rows->setAccessibleName(tr("Everything compared"));
    auto* head = new QHBoxLayout;
    head->addWidget(m_choose);
    head->addWidget(m_status, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    layout->addWidget(m_view, 2);
    layout->addWidget(m_otherView, 2);
    auto* tables = new QHBoxLayout;
    tables->addWidget(m_means, 2);
    tables->addWidget(m_rows, 3);
    layout->addLayout(tables, 2);
    connect(m_choose, &QPushButton::clicked, this, &ComparePage::chooseOther);
    for (const FigureView* table : {m_means, m_rows})
        connect(table, &FigureView::placeChosen, this, &SessionView::placeChosen);
    moveTogether(*m_view, *m_otherView);
    moveTogether(*m_otherView, *m_view);
    for (const models::TraceSession* either : {&this->session(), &m_other}) {
        connect(either, &models::TraceSession::stateChanged, this, &ComparePage::update);
        connect(either, &models::TraceSession::resultsChanged, this, &ComparePage::update);
    }
    connect(&m_other, &models::TraceSession::noticeChanged, this,
            [this] { m_status->setText(statusText()); });
    connect(&m_iteration, &models::IterationModel::changed, this, &ComparePage::update);
    connect(&m_otherIteration, &models::IterationModel::changed, this, &ComparePage::update);
    connect(&m_comparison, &models::ComparisonModel::changed, this, &ComparePage::update);
    update();
}

void ComparePage::openOther(const QStringList& files) {
    opening::OpenRequest request;
    for (const QString& file : files) request.files.emplace_back(file.toStdString());
    openOther(std::move(request));
}

void ComparePage::openOther(opening::OpenRequest request) {
    if (!request.files.empty()) m_other.open(std::move(request));
}

void ComparePage::chooseOther() {
    openOther(QFileDialog::getOpenFileNames(
        this, tr("Open the trace to compare with"), {},
        tr("Traces (*.pleat *.json *.json.gz *.json.zst *.sqlite);;All files (*)")));
}

bool ComparePage::settled() const {
    return m_other.state() != State::Loading && !m_otherIteration.working() &&
           !m_comparison.working();
}

void ComparePage::update() {
    showPipelines();
    const auto compared = m_comparison.results();
    const auto ours = session().results();
    const models::Place place = ours ? models::typicalIteration(*ours) : models::Place();
    m_means->setFigures(compared ? models::meanFigures(*compared, place) : models::Figures());
    m_rows->setFigures(compared ? models::comparedFigures(*compared, place) : models::Figures());
    m_view->setVisible(m_other.state() == State::Loaded);
    m_otherView->setVisible(m_other.state() == State::Loaded);
    m_status->setText(statusText());
}

void ComparePage::showPipelines() {
    if (m_view->results() == m_iteration.results() &&
        m_otherView->results() == m_otherIteration.results())
        return;
    m_following = true;  // each shows all at first
    m_view->setResults(m_iteration.results());
    m_otherView->setResults(m_otherIteration.results());
    base::Duration longest;
    for (const PipelineView* view : {m_view, m_otherView}) {
        if (view->results()) longest = std::max(longest, view->scene().window.length());
    }
    for (PipelineView* view : {m_view, m_otherView}) view->setLeastTime(longest);
    m_following = false;
}

QString ComparePage::statusText() const {
    switch (m_other.state()) {
        case State::Empty:
            break;
        case State::Loading:
            return tr("Loading %1").arg(m_other.name());
        case State::Failed:
            return m_other.error();
        case State::Loaded:
            if (!m_comparison.problem().isEmpty())
                return tr("The two runs cannot be compared: %1.\nChoose a run with complete "
                          "iterations. If your events have their own names, write rules for them: "
                          "pleat view BASE --with NEW --rules FILE (docs/importing.md).")
                    .arg(m_comparison.problem());
            if (!m_comparison.results()) return tr("Comparing…");
            return tr("%1\nBASE (above): this run. NEW (below): %2. Orange: slower or longer. "
                      "Blue: faster or shorter.")
                       .arg(models::comparisonAnswer(*m_comparison.results()), m_other.name()) +
                   (m_other.notice().isEmpty() ? QString() : u'\n' + m_other.notice());
    }
    return tr("Choose a second run to show below this one and to compare with it.");
}

void ComparePage::moveTogether(PipelineView& from, PipelineView& to) {
    const auto follow = [this, &from, &to] {
        if (m_following) return;  // it is this that moved it
        m_following = true;
        to.follow(from);
        m_following = false;
    };
    connect(&from, &PipelineView::rangeChanged, this, follow);
    connect(from.verticalScrollBar(), &QScrollBar::valueChanged, this, follow);
}

}  // namespace pleat::widgets
