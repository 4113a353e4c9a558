#include "widgets/pipeline_page.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <set>

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
      m_ghosts(new QCheckBox(tr("Schedule as it was &meant"), this)),
      m_messages(new QCheckBox(tr("M&essages"), this)),
      m_slack(new QCheckBox(tr("S&lack"), this)),
      m_legend(new QLabel(this)),
      m_message(new QLabel(this)),
      m_stack(new QStackedWidget(this)),
      m_view(new PipelineView(this)) {
    auto* label = new QLabel(tr("&Iteration"), this);
    label->setBuddy(m_number);
    m_messages->setChecked(true);
    m_message->setWordWrap(true);
    m_message->setAlignment(Qt::AlignCenter);
    m_message->setTextFormat(Qt::PlainText);
    m_legend->setWordWrap(true);
    auto* controls = new QHBoxLayout;
    controls->addWidget(label);
    controls->addWidget(m_number);
    controls->addWidget(m_ghosts);
    controls->addWidget(m_messages);
    controls->addWidget(m_slack);
    controls->addStretch(1);
    m_stack->addWidget(m_message);
    m_stack->addWidget(m_view);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(controls);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_legend);
    setFocusProxy(m_view);
    connect(m_ghosts, &QCheckBox::toggled, m_view, &PipelineView::setGhosts);
    connect(m_messages, &QCheckBox::toggled, m_view, &PipelineView::setMessages);
    connect(m_slack, &QCheckBox::toggled, m_view, &PipelineView::setSlack);
    for (QCheckBox* box : {m_ghosts, m_messages, m_slack}) addToggle(box);
    connect(m_view, &PipelineView::selected, this, &PipelinePage::reportSelection);
    connect(m_view, &PipelineView::areaSelected, this, [this](const PipelineArea& area) {
        const auto results = m_iteration.results();
        const base::Interval within = intersect(area.range, results->analysis.window.window);
        if (within.empty()) return;
        emit factsWanted(tr("Selected area"),
                         models::areaFacts(models::accountArea(*results->trace, results->analysis,
                                                               area.firstRow, area.lastRow, within),
                                           within));
    });
    connect(m_view, &PipelineView::activated, this,
            [this](const timeline::PipelineHit& hit) { emit placeChosen(placeOfHit(hit)); });
    connect(&m_iteration, &models::IterationModel::changed, this, &PipelinePage::update);
    update();
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
            {tr("A, D, drag"), tr("move to earlier, later")},
            {tr("F"), tr("show the whole iteration")},
            {tr("arrow keys"), tr("go to the next task, or the next rank")},
            {tr("Shift+drag"), tr("select an area and account for it")},
            {tr("Enter, double click"), tr("show the selected task elsewhere")}};
}

QString PipelinePage::message() const {
    return m_stack->currentWidget() == m_message ? m_message->text() : QString();
}

void PipelinePage::update() {
    const auto results = m_iteration.results();
    if (!results || results->scene.rows.empty()) {
        m_message->setText(results                 ? tr("No rank of this trace did any work.")
                           : m_iteration.working() ? tr("Analysing…")
                           : m_iteration.problem().isEmpty()
                               ? QString()
                               : tr("No pipeline to show: %1").arg(m_iteration.problem()));
        m_stack->setCurrentWidget(m_message);
        m_view->setResults(nullptr);
        m_legend->clear();
        return;
    }
    m_stack->setCurrentWidget(m_view);
    const int number = results->analysis.window.iteration;
    m_ghosts->setEnabled(!results->scene.ghosts.empty());
    m_ghosts->setToolTip(results->scene.ghosts.empty()
                             ? tr("No schedule of a known name was recognised in this trace.")
                             : QString());
    m_slack->setEnabled(results->scene.palest.ns > 0);
    m_slack->setToolTip(
        results->scene.palest.ns > 0
            ? tr("The paler a task, the later it may be without the iteration being later; palest "
                 "from %1, a tenth of the iteration.")
                  .arg(models::shownDuration(results->scene.palest))
            : tr("Slack is not known: there is no critical path."));
    m_view->setResults(results);
    updateLegend();
    if (m_wanted.empty() || (m_wanted.iteration >= 0 && m_wanted.iteration != number)) return;
    if (m_wanted.range) m_view->showRange(*m_wanted.range);
    if (m_wanted.rank >= 0) m_view->showRow(m_wanted.rank);
    m_view->selectEvent(m_wanted.event);
    m_wanted = {};
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
            ? tr("No tasks: %1.").arg(QString::fromStdString(results->analysis.withoutGraph))
            : tr("A colour and number is a microbatch: forward, backward darker. "
                 "Red: on the critical path. White: data moves, or a collective waits. Hatched: "
                 "idle, because of");
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
        const timeline::PipelineGap& gap = results->scene.gaps[hit.index];
        place.range = gap.span;
        place.rank = results->scene.rows[gap.row].rank;
        return place;
    }
    const timeline::PipelineTask& task =
        hit.kind == Kind::Task ? results->scene.tasks[hit.index] : results->scene.ghosts[hit.index];
    place.range = task.span;
    place.rank = results->scene.rows[task.row].rank;
    place.event = task.event;
    return place;
}

void PipelinePage::reportSelection(const timeline::PipelineHit& hit) {
    const auto results = m_iteration.results();
    if (hit.kind == Kind::Gap) {
        emit factsWanted(tr("Idle"), models::gapFacts(*results, hit.index));
    } else if (hit.kind == Kind::Task) {
        emit placePointed(placeOfHit(hit));
    }
}

}  // namespace pleat::widgets
