#include "models/facts.h"

#include <QCoreApplication>
#include <algorithm>
#include <optional>

#include "models/answer_figures.h"
#include "models/text.h"
#include "report/units.h"
#include "schedule/action.h"

namespace pleat::models {
namespace {

constexpr std::size_t kMostArgumentBytes = 4'000;
constexpr std::size_t kMostMembers = 16;  // of a collective

struct Text {
    Q_DECLARE_TR_FUNCTIONS(Facts)
};

class FactList {
  public:
    FactList() { m_figures.columns = {Text::tr("What"), Text::tr("Value")}; }
    void add(const QString& what, const QString& value, const Place& place = {}) {
        m_figures.rows.push_back({{what, {}, place}, {value, {}, place}});
    }
    void addKnown(const QString& what, std::int64_t number) {
        if (number >= 0) add(what, QString::number(number));
    }
    Figures take() && { return std::move(m_figures); }

  private:
    Figures m_figures;
};

QString rankName(const trace::Trace& trace, trace::RankId rank) {
    if (!rank.valid()) return Text::tr("unknown");
    const trace::Rank& about = trace.ranks()[rank];
    return about.number >= 0
               ? shownText(trace::rankTitle(about))
               : Text::tr("process %1 (%2)").arg(about.pid).arg(shownText(about.program));
}

void addTask(FactList& facts, const trace::Task& task) {
    facts.add(Text::tr("Task"), shownText(schedule::toString(
                                    schedule::Action{task.stage, task.kind, task.microbatch, {}})));
    facts.addKnown(Text::tr("Stage"), task.stage);
    facts.addKnown(Text::tr("Chunk"), task.chunk);
    facts.addKnown(Text::tr("Microbatch"), task.microbatch);
    facts.addKnown(Text::tr("Iteration"), task.iteration);
}

void addMatch(FactList& facts, const trace::Trace& trace, const trace::Transfer& transfer) {
    if (!transfer.match.valid()) {
        facts.add(Text::tr("Partner"), Text::tr("none found; all of its time counts as moving"));
        return;
    }
    const trace::Match& match = trace.annotations().matches[transfer.match];
    const base::Duration waited =
        std::min(std::max(match.ready, transfer.span.begin), transfer.span.end) -
        transfer.span.begin;
    facts.add(Text::tr("Waited"),
              Text::tr("%1 for %2").arg(shownDuration(waited), rankName(trace, match.lastRank)));
    facts.add(Text::tr("Moved data"), shownDuration(transfer.span.length() - waited));
    base::TraceTime first = transfer.span.begin;
    for (const trace::TransferId member : match.members)
        first = std::min(first, trace.annotations().transfers[member].span.begin);
    std::size_t shown = 0;
    for (const trace::TransferId member : match.members) {
        const trace::Transfer& other = trace.annotations().transfers[member];
        if (other.event == transfer.event || ++shown > kMostMembers) continue;
        facts.add(isMessage(transfer.operation) ? Text::tr("Peer") : Text::tr("Member"),
                  Text::tr("%1, ready %2 after the first")
                      .arg(rankName(trace, other.rank), shownDuration(other.span.begin - first)),
                  placeOf(trace, other.event));
    }
    if (shown > kMostMembers)
        facts.add(Text::tr("Members"), Text::tr("and %1 more").arg(shown - kMostMembers));
}

void addTransfer(FactList& facts, const trace::Trace& trace, const trace::Transfer& transfer) {
    facts.add(Text::tr("Transfer"), shownText(std::string(toString(transfer.dimension)) + " " +
                                              std::string(toString(transfer.operation))));
    facts.add(Text::tr("Bytes"), QString::number(transfer.bytes));
    facts.addKnown(Text::tr("Stage"), transfer.stage);
    facts.addKnown(Text::tr("Microbatch"), transfer.microbatch);
    facts.addKnown(Text::tr("Iteration"), transfer.iteration);
    facts.addKnown(Text::tr("To or from rank"), transfer.peer);
    facts.addKnown(Text::tr("Sequence"), transfer.sequence);
    addMatch(facts, trace, transfer);
}

// Of a node that is this task or transfer.
void addSlack(FactList& facts, const IterationResults& iteration, graph::NodeKind kind,
              std::size_t source) {
    if (!iteration.analysis.graph) return;
    const auto& nodes = iteration.analysis.graph->nodes();
    std::optional<base::Duration> slack;  // of a task in pieces: the least
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const graph::Node& node = nodes[graph::NodeId::at(i)];
        if (node.kind != kind || node.source != static_cast<std::int32_t>(source)) continue;
        const base::Duration own = iteration.analysis.slack[graph::NodeId::at(i)];
        slack = slack ? std::min(*slack, own) : own;
    }
    if (!slack) return;
    facts.add(Text::tr("Slack"),
              slack->ns == 0 ? Text::tr("none: it is critical") : shownDuration(*slack));
}

// Of AreaAccount::parts.
QString areaPartName(std::size_t part) {
    return part < kFirstCause ? barPartName(part) : Text::tr("bubble");
}

}  // namespace

QString shownDuration(base::Duration duration) {
    constexpr std::int64_t kExactBelow_ns = 10'000;
    if (duration.ns < kExactBelow_ns && duration.ns > -kExactBelow_ns)
        return Text::tr("%1 ns").arg(duration.ns);
    return Text::tr("%1 ms").arg(QString::fromStdString(report::milliseconds(duration)));
}

Place placeOf(const trace::Trace& trace, trace::EventId event) {
    Place place;
    if (!event.valid() || event.index() >= trace.eventCount()) return place;
    const trace::Event row = trace.event(event);
    place.event = event;
    place.range = row.span;
    place.rank = trace.ranks()[trace.lanes()[row.lane].rank].number;
    return place;
}

Figures eventFacts(const trace::Trace& trace, const timeline::EventRoles& roles,
                   trace::EventId event, const IterationResults* iteration) {
    FactList facts;
    if (!event.valid() || event.index() >= trace.eventCount()) return std::move(facts).take();
    const trace::Event row = trace.event(event);
    const trace::Lane& lane = trace.lanes()[row.lane];
    facts.add(Text::tr("Name"), shownText(trace.name(event)), placeOf(trace, event));
    if (row.domain.valid()) facts.add(Text::tr("Domain"), shownText(trace.domain(event)));
    facts.add(Text::tr("Rank"), rankName(trace, lane.rank));
    facts.add(Text::tr("Lane"), shownText(trace::laneTitle(lane)));
    facts.add(Text::tr("Begin"), shownDuration(row.span.begin - trace.span().begin));
    facts.add(Text::tr("Duration"), row.kind == trace::EventKind::Mark
                                        ? Text::tr("none: it is a mark")
                                        : shownDuration(row.span.length()));
    if (row.flag == trace::EventFlag::OpenAtEnd)
        facts.add(Text::tr("End"), Text::tr("not recorded; drawn to the end of its lane"));
    const trace::Annotations& found = trace.annotations();
    if (const trace::TaskId task = roles.tasks.of(event); task.valid()) {
        addTask(facts, found.tasks[task]);
        if (iteration != nullptr) addSlack(facts, *iteration, graph::NodeKind::Task, task.index());
    }
    if (const trace::TransferId id = roles.transfers.of(event); id.valid()) {
        addTransfer(facts, trace, found.transfers[id]);
        if (iteration != nullptr)
            addSlack(facts, *iteration, graph::NodeKind::Transfer, id.index());
    }
    if (const trace::EventId launch = trace.launchOf(event); launch.valid()) {
        facts.add(Text::tr("Launched by"), shownText(trace.name(launch)), placeOf(trace, launch));
        facts.add(Text::tr("Launch delay"),
                  shownDuration(row.span.begin - trace.event(launch).span.begin));
    }
    if (const std::string_view arguments = trace.arguments(event); !arguments.empty())
        facts.add(Text::tr("Arguments"), shownText(arguments, kMostArgumentBytes));
    return std::move(facts).take();
}

Figures gapFacts(const IterationResults& iteration, const timeline::PipelineScene& scene,
                 std::size_t gap) {
    FactList facts;
    const timeline::PipelineGap& piece = scene.gaps[gap];
    Place place;
    place.rank = scene.rows[piece.row].rank;
    place.range = piece.span;
    place.iteration = iteration.analysis.window.iteration;
    facts.add(Text::tr("Idle"), shownDuration(piece.span.length()), place);
    facts.add(Text::tr("Rank"), Text::tr("rank %1").arg(place.rank), place);
    base::Duration whole;
    for (const timeline::PipelineGap& other : scene.gaps) {
        if (other.gap == piece.gap) whole += other.span.length();
    }
    if (whole != piece.span.length()) facts.add(Text::tr("Of a gap of"), shownDuration(whole));
    for (std::size_t cause = 0; cause < piece.shares.size(); ++cause) {
        if (piece.shares[cause] <= 0) continue;
        facts.add(barPartName(kFirstCause + cause),
                  QString::fromStdString(report::percent(piece.shares[cause])));
    }
    return std::move(facts).take();
}

Figures areaFacts(const std::vector<AreaAccount>& accounts, base::Interval range) {
    FactList facts;
    Place place;
    place.range = range;
    facts.add(Text::tr("Length"), shownDuration(range.length()), place);
    if (accounts.empty()) {
        facts.add(Text::tr("Ranks"), Text::tr("no training rank in the selection"));
        return std::move(facts).take();
    }
    facts.add(Text::tr("Ranks"), QString::number(accounts.size()), place);
    analysis::TimeParts sum;
    for (const AreaAccount& account : accounts) sum += account.parts;
    const std::vector<std::int32_t> tenths = report::tenthsOfPercent(sum.of);
    for (std::size_t part = 0; part < tenths.size(); ++part) {
        facts.add(areaPartName(part),
                  Text::tr("%1 %, %2")
                      .arg(tenths[part] / 10.0, 0, 'f', 1)
                      .arg(shownDuration(sum.of[part])),
                  place);
    }
    for (const AreaAccount& account : accounts) {
        QStringList parts;
        for (std::size_t part = 0; part < account.parts.of.size(); ++part) {
            const base::Duration time = account.parts.of[part];
            if (time.ns > 0)
                parts << Text::tr("%1 %2").arg(areaPartName(part), shownDuration(time));
        }
        place.rank = account.rank;
        facts.add(Text::tr("rank %1").arg(account.rank), parts.join(QStringLiteral(", ")), place);
    }
    return std::move(facts).take();
}

}  // namespace pleat::models
