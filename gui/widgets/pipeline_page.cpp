#include "widgets/pipeline_page.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <initializer_list>
#include <set>

#include "annotate/advice.h"
#include "models/answer_figures.h"
#include "models/facts.h"
#include "widgets/colours.h"

namespace pleat::widgets {

using Kind = timeline::PipelineHit::Kind;

PipelinePage::PipelinePage(models::TraceSession& session, models::IterationModel& iteration,
                           QWidget* parent)
    : SessionView(session, parent),
      m_iteration(iteration),
      m_number(new IterationBox(iteration, this)),
      m_rows(new QComboBox(this)),
      m_ghosts(new QCheckBox(tr("&Ideal schedule"), this)),
      m_messages(new QCheckBox(tr("M&essages"), this)),
      m_slack(new QCheckBox(tr("S&lack"), this)),
      m_legend(new QLabel(this)),
      m_message(new QLabel(this)),
      m_stack(new QStackedWidget(this)),
      m_minimap(new TimelineMinimap(this)),
      m_view(new PipelineView(this)) {
    m_rows->addItems({tr("rank"), tr("stage")});  // in the order of PipelineRows
    m_rows->setFocusPolicy(Qt::TabFocus);
    m_messages->setChecked(true);
    m_message->setWordWrap(true);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setTextFormat(Qt::PlainText);
    m_legend->setWordWrap(true);
    m_minimap->setAccessibleName(tr("The whole iteration"));
    m_minimap->setToolTip(tr("How busy the ranks were over the iteration; drag to move"));
    makeLayout();
    setFocusProxy(m_view);
    connect(m_rows, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_view->setRows(static_cast<timeline::PipelineRows>(std::max(index, 0)));
        if (m_iteration.results()) updateLegend();
    });
    connect(m_ghosts, &QCheckBox::toggled, m_view, &PipelineView::setGhosts);
    connect(m_messages, &QCheckBox::toggled, m_view, &PipelineView::setMessages);
    connect(m_slack, &QCheckBox::toggled, m_view, &PipelineView::setSlack);
    connect(m_slack, &QCheckBox::toggled, this, [this] {
        if (m_iteration.results()) updateLegend();
    });
    for (QCheckBox* box : {m_ghosts, m_messages, m_slack}) addToggle(box);
    connectView();
    connect(&m_iteration, &models::IterationModel::changed, this, &PipelinePage::update);
    update();
}

void PipelinePage::makeLayout() {
    auto* iteration = new QLabel(tr("&Iteration"), this);
    iteration->setBuddy(m_number);
    auto* rows = new QLabel(tr("&Rows"), this);
    rows->setBuddy(m_rows);
    auto* controls = new QHBoxLayout;
    for (QWidget* control : std::initializer_list<QWidget*>{iteration, m_number, rows, m_rows,
                                                            m_ghosts, m_messages, m_slack})
        controls->addWidget(control);
    controls->addStretch(1);
    auto* picture = new QWidget(this);
    auto* above = new QVBoxLayout(picture);
    above->setContentsMargins(0, 0, 0, 0);
    above->addWidget(m_minimap);
    above->addWidget(m_view, 1);
    m_stack->addWidget(m_message);
    m_stack->addWidget(picture);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(controls);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_legend);
}

void PipelinePage::connectView() {
    connect(m_view, &PipelineView::selected, this, &PipelinePage::reportSelection);
    connect(m_view, &PipelineView::cleared, this, &SessionView::selectionCleared);
    connect(m_view, &PipelineView::areaSelected, this, &PipelinePage::accountFor);
    connect(m_view, &PipelineView::activated, this,
            [this](const timeline::PipelineHit& hit) { emit placeChosen(placeOfHit(hit)); });
    connect(m_view, &PipelineView::rangeChanged, this,
            [this] { m_minimap->setShown(m_view->visibleRange()); });
    connect(m_minimap, &TimelineMinimap::centreWanted, m_view, &PipelineView::centreOn);
}

void PipelinePage::setRows(timeline::PipelineRows rows) {
    m_rows->setCurrentIndex(static_cast<int>(rows));
}

void PipelinePage::accountFor(const PipelineArea& area) {
    const auto results = m_iteration.results();
    const base::Interval within = intersect(area.range, results->analysis.window.window);
    if (within.empty()) return;
    const bool byStage = m_view->rows() == timeline::PipelineRows::Stage;
    emit factsWanted(
        byStage ? tr("Selected area: all stages of its ranks") : tr("Selected area"),
        models::areaFacts(models::accountArea(*results->trace, results->analysis, m_view->scene(),
                                              area.firstRow, area.lastRow, within),
                          within));
}

bool PipelinePage::shows(const models::Place& place) const {
    return session().trace() != nullptr && place.iteration >= 0;
}

void PipelinePage::goTo(const models::Place& place) {
    m_wanted = place;
    if (place.iteration >= 0) m_iteration.choose(place.iteration);
    update();
}

QList<KeyHelp> PipelinePage::keys() const {
    return {{tr("W, S, wheel"), tr("zoom in, zoom out")},
            {tr("A, D, drag"), tr("move earlier, later")},
            {tr("F"), tr("show the whole iteration")},
            {tr("Ctrl+Z, Ctrl+Shift+Z"), tr("undo, redo navigation")},
            {tr("arrow keys"), tr("go to the next task, or the next row")},
            {tr("Shift+drag"), tr("select an area and account for it")},
            {tr("Enter, double click"), tr("show the selected task on another page")}};
}

QString PipelinePage::message() const {
    return m_stack->currentWidget() == m_message ? m_message->text() : QString();
}

void PipelinePage::update() {
    const auto results = m_iteration.results();
    if (!results || results->scene.rows.empty()) {
        m_message->setText(advice());
        m_stack->setCurrentIndex(0);
        m_view->setResults(nullptr);
        m_legend->clear();
        return;
    }
    m_stack->setCurrentIndex(1);
    const int number = results->analysis.window.iteration;
    m_ghosts->setEnabled(!results->scene.ghosts.empty());
    m_ghosts->setToolTip(results->scene.ghosts.empty()
                             ? tr("No known schedule was recognised in this trace.")
                             : QString());
    m_slack->setEnabled(results->scene.palest.ns > 0);
    m_slack->setToolTip(results->scene.palest.ns > 0
                            ? tr("Paler tasks have more slack; the palest have at least %1, a "
                                 "tenth of the iteration.")
                                  .arg(models::shownDuration(results->scene.palest))
                            : tr("Slack is unknown without a critical path."));
    m_minimap->setWhole(results->scene.window);
    m_minimap->setStrip(results->busy);
    m_minimap->setVisible(!results->scene.tasks.empty());  // busy with tasks, that is
    m_view->setResults(results);
    updateLegend();
    if (m_wanted.empty() || (m_wanted.iteration >= 0 && m_wanted.iteration != number)) return;
    if (m_wanted.range) m_view->showRange(*m_wanted.range);
    if (m_wanted.rank >= 0) m_view->showRow(m_wanted.rank);
    m_view->selectEvent(m_wanted.event);
    m_wanted = {};
}

QString PipelinePage::advice() const {
    const auto trace = session().trace();
    if (!trace) return {};
    if (m_iteration.working()) return tr("Analysing…");
    const QString why = m_iteration.results()
                            ? tr("No pipeline to show: no rank of this trace did any work.")
                            : tr("No pipeline to show: %1.").arg(m_iteration.problem());
    if (!trace->annotations().tasks.empty()) return why;
    return why + QStringLiteral("\n\n") +
           tr("To see the pipeline: %1.")
               .arg(QString::fromUtf8(annotate::kHowToNameActions.data(),
                                      static_cast<qsizetype>(annotate::kHowToNameActions.size())));
}

void PipelinePage::updateLegend() {
    const auto results = m_iteration.results();
    std::set<std::size_t> causes;
    for (const timeline::PipelineGap& gap : results->scene.gaps) {
        for (std::size_t cause = 0; cause < gap.shares.size(); ++cause) {
            if (gap.shares[cause] > 0) causes.insert(cause);
        }
    }
    QString legend =
        results->scene.tasks.empty()
            ? tr("No tasks: %1. For your own names, write rules (docs/importing.md). White: the "
                 "device works, or data moves. Hatched: idle, because of")
                  .arg(QString::fromStdString(results->analysis.withoutGraph))
            : tr("Each colour and number is a microbatch; backward is darker. Grey: optimizer, "
                 "data loading. Red: on the critical path. White: data moves, %1. Hatched: idle, "
                 "because of")
                  .arg(m_view->rows() == timeline::PipelineRows::Rank
                           ? tr("or a collective waits")
                           : tr("a collective waits, or the rank runs another of its stages"));
    if (m_slack->isChecked()) legend.prepend(tr("Paler: more slack. "));
    for (const std::size_t cause : causes) {
        legend += QStringLiteral(" &nbsp;<span style=\"color:%1\">▨</span>&nbsp;%2")
                      .arg(partColour(models::kFirstCause + cause).darker(110).name(),
                           models::barPartName(models::kFirstCause + cause).toHtmlEscaped());
    }
    m_legend->setText(legend);
}

models::Place PipelinePage::placeOfHit(const timeline::PipelineHit& hit) const {
    const auto results = m_iteration.results();
    models::Place place;
    place.iteration = results->analysis.window.iteration;
    if (hit.kind == Kind::Gap) {
        const timeline::PipelineGap& gap = m_view->scene().gaps[hit.index];
        place.range = gap.span;
        place.rank = m_view->scene().rows[gap.row].rank;
        return place;
    }
    const timeline::PipelineTask& task = hit.kind == Kind::Task ? m_view->scene().tasks[hit.index]
                                                                : m_view->scene().ghosts[hit.index];
    place.range = task.span;
    place.rank = m_view->scene().rows[task.row].rank;
    place.event = task.event;
    return place;
}

void PipelinePage::reportSelection(const timeline::PipelineHit& hit) {
    const auto results = m_iteration.results();
    if (hit.kind == Kind::Gap) {
        emit factsWanted(tr("Idle"), models::gapFacts(*results, m_view->scene(), hit.index));
    } else if (hit.kind == Kind::Task) {
        emit placePointed(placeOfHit(hit));
    }
}

}  // namespace pleat::widgets
