// Makes the graphs of a run a ReplayModel: what each node is, which nodes are alike, and what is
// usual of them.
#include "analysis/replay_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/critical_path.h"
#include "analysis/ideal_replay.h"
#include "analysis/replay_windows.h"
#include "base/statistics.h"
#include "graph/timer_error.h"
#include "graph/timer_graph.h"
#include "graph/work_graph.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using schedule::ActionKind;
using trace::Timer;
using trace::TimerRole;

// Timers write whole microseconds.

constexpr const char* kCompute = "compute";

std::string transferKey(trace::Dimension dimension) {
    return fmt::format("transfer.{}", toString(dimension));
}

// Both ends of a pipeline's message; empty for other actions.
std::string messageName(ActionKind kind) {
    if (kind == ActionKind::SendForward || kind == ActionKind::ReceiveForward)
        return "forward-pp-comm";
    if (kind == ActionKind::SendBackward || kind == ActionKind::ReceiveBackward)
        return "backward-pp-comm";
    return {};
}

ReplayOperation operationOf(const Timer& timer) {
    ReplayOperation operation;
    operation.name = timer.name;
    operation.suspect = operation.name;
    if (timer.role == TimerRole::Task) {
        operation.keys = {kCompute, std::string(toString(timer.action))};
    } else if (timer.dimension != trace::Dimension::Other ||
               timer.operation != trace::Operation::Other) {
        operation.keys = {transferKey(timer.dimension), std::string(toString(timer.operation))};
    } else if (timer.role == TimerRole::Phase) {
        operation.keys = {kCompute};
    }
    if (timer.role == TimerRole::Message) operation.suspect = messageName(timer.action);
    return operation;
}

ReplayOperation operationOf(const trace::Trace& trace, const Node& node) {
    ReplayOperation operation;
    if (node.kind == NodeKind::Work) {
        operation.name = operation.suspect = kCompute;
        return operation;
    }
    if (node.kind != NodeKind::Transfer) {
        operation.name = kindOf(trace, node);
        operation.suspect = operation.name;
        if (!isDataPhase(trace, node)) operation.keys.emplace_back(kCompute);
        if (node.kind == NodeKind::Task) operation.keys.emplace_back(toString(node.action));
        return operation;
    }
    const trace::Transfer& transfer =
        trace.annotations().transfers[trace::TransferId::at(static_cast<std::size_t>(node.source))];
    operation.name =
        fmt::format("{}.{}", toString(transfer.dimension), toString(transfer.operation));
    operation.suspect = operation.name;
    operation.keys = {transferKey(transfer.dimension), std::string(toString(transfer.operation))};
    if (!transfer.action) return operation;
    operation.keys.emplace_back(toString(*transfer.action));
    if (!messageName(*transfer.action).empty()) operation.suspect = messageName(*transfer.action);
    return operation;
}

bool isTogether(const Node& node) { return node.kind == NodeKind::Transfer; }

// What is alike enough to share an ideal duration in a measured graph.
using KindKey = std::tuple<int, int, int, std::int64_t>;

// `position` numbers the stretches of work in a trace without tasks.
KindKey kindKey(const trace::Trace& trace, const Node& node, int position) {
    if (node.kind == NodeKind::Work) return {-1, position, 0, 0};
    if (node.kind == NodeKind::Task) return {0, static_cast<int>(node.action), 0, 0};
    if (node.kind == NodeKind::Phase) return {1, isDataPhase(trace, node) ? 1 : 0, 0, 0};
    const trace::Transfer& transfer =
        trace.annotations().transfers[trace::TransferId::at(static_cast<std::size_t>(node.source))];
    return {2 + static_cast<int>(transfer.operation), static_cast<int>(transfer.dimension),
            transfer.action ? 1 + static_cast<int>(*transfer.action) : 0, transfer.bytes};
}

// Whose pauses before what compare. The first work of a rank waits for whatever begins an
// iteration.
using PauseKind = std::tuple<int, int, int, bool>;

PauseKind pauseKindOf(const trace::Trace& trace, const graph::TaskGraph& graph, NodeId id,
                      int position) {
    const Node& node = graph.nodes()[id];
    const bool first = graph.predecessors(id).empty();
    if (node.kind == NodeKind::Work) return {static_cast<int>(node.kind), position, 0, first};
    if (node.kind == NodeKind::Phase)
        return {static_cast<int>(node.kind), isDataPhase(trace, node) ? 1 : 0, 0, first};
    return {static_cast<int>(node.kind), static_cast<int>(node.action),
            static_cast<int>(node.dimension), first};
}

double meanNs(const std::vector<std::int64_t>& values) {
    double sum = 0;
    for (const std::int64_t value : values) sum += static_cast<double>(value);
    return sum / static_cast<double>(std::max<std::size_t>(1, values.size()));
}

class ModelMaker {
  public:
    ModelMaker(const trace::Trace& trace, base::Duration resolution)
        : m_trace(trace), m_tasks(trace.annotations().tasks.size()) {
        m_model.resolution = std::max(graph::kOfATimer, resolution);
        for (const trace::Rank& rank : trace.ranks())
            m_model.ranks.push_back({rank.number, rank.coordinates.dp,
                                     rank.oneOfSeveralDevices ? rank.device : std::string()});
    }

    void add(graph::TimerStep step) {
        m_model.ofTimers = true;
        ReplayIteration iteration;
        iteration.windows = {{step.iteration, step.measured, {}, {}, {}}};
        iteration.graph = std::move(step.graph);
        std::size_t next = 0;
        for (const Node& node : iteration.graph.nodes()) {
            const graph::TimerNode& timer = step.timers[NodeId::at(next++)];
            if (timer.timer == nullptr) {
                iteration.operation.push_back(kNone);
                iteration.link.push_back(kNone);
                continue;
            }
            const auto [known, isNew] = m_byTimer.try_emplace(timer.timer, m_durations.size());
            if (isNew) addOperation(operationOf(*timer.timer), isTogether(node));
            m_durations[known->second].push_back(node.duration.ns);
            const std::int32_t peer = timer.peer.valid() ? m_trace.ranks()[timer.peer].number : -1;
            iteration.operation.push_back(static_cast<std::uint32_t>(known->second));
            iteration.link.push_back(linkOf(node, peer));
        }
        m_model.iterations.push_back(std::move(iteration));
    }

    // `next` is the window that follows in the run, where there is one. False where the windows
    // do not all begin with work, and so cannot be replayed together.
    bool add(graph::TaskGraph graph, std::span<const graph::IterationWindow> windows,
             std::size_t warmUp, const graph::IterationWindow* next) {
        ReplayIteration iteration;
        iteration.warmUp = warmUp;
        iteration.graph = std::move(graph);
        if (!layOut(iteration, windows, next)) return false;
        m_ownOf.clear();
        for (const Node& node : iteration.graph.nodes()) {
            const bool isTask = node.kind == NodeKind::Task && node.source >= 0;
            m_ownOf.push_back(isTask ? &m_tasks[static_cast<std::size_t>(node.source)] : nullptr);
            if (isTask) *m_ownOf.back() = {};  // an iteration may warm up another's graph as well
        }
        for (std::size_t i = 0; i < m_ownOf.size(); ++i) {
            if (m_ownOf[i] != nullptr && iteration.graph.nodes()[NodeId::at(i)].cut)
                m_ownOf[i]->cut = true;
        }
        addMeasured(std::move(iteration), nullptr);
        return true;
    }

    // Without tasks the stretches of a rank between the begins of two communications are one piece
    // of work, which the ends of communications cut.
    void add(graph::WorkGraph work, const graph::IterationWindow& window) {
        std::map<std::pair<std::int32_t, graph::WorkPosition>, OwnWork> stretches;
        m_ownOf.clear();
        for (std::size_t i = 0; i < work.graph.nodes().size(); ++i) {
            const Node& node = work.graph.nodes()[NodeId::at(i)];
            m_ownOf.push_back(node.kind == NodeKind::Work
                                  ? &stretches[{node.rank, work.positions[NodeId::at(i)]}]
                                  : nullptr);
        }
        ReplayIteration iteration;
        iteration.graph = std::move(work.graph);
        if (!layOut(iteration, std::span(&window, 1), nullptr)) return;
        addMeasured(std::move(iteration), &work.positions);
    }

    // Steps of coarse timers with what began later than all it waited for as pauses.
    void keepLaunches() {
        for (ReplayIteration& iteration : m_model.iterations) {
            const auto& nodes = iteration.graph.nodes();
            base::TraceTime begin{std::numeric_limits<std::int64_t>::max()};
            for (const Node& node : nodes) begin = std::min(begin, node.measured.begin);
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                const NodeId id = NodeId::at(i);
                base::TraceTime free = begin;
                for (const NodeId before : iteration.graph.predecessors(id))
                    free = std::max(free, nodes[before].measured.end);
                iteration.recorded.push_back(
                    {nodes[id].duration,
                     std::max(base::Duration{}, nodes[id].measured.begin - free)});
                addPause(iteration, id, -1);
            }
        }
    }

    [[nodiscard]] const ReplayModel& soFar() const { return m_model; }

    ReplayModel finish() && {
        settleIncomplete();
        for (std::size_t i = 0; i < m_model.pauseCells.size(); ++i)
            m_model.pauseCells[i].typical = static_cast<double>(base::medianOf(m_pausesOf[i]));
        for (auto& delays : m_pausesOfKind)
            m_model.usualPause.push_back(static_cast<double>(base::medianOf(delays)));
        finishCells();
        for (std::size_t i = 0; i < m_durations.size(); ++i) {
            ReplayOperation& operation = m_model.operations[i];
            operation.ideal = {operation.together ? base::medianOf(m_durations[i])
                               : m_typical[i].empty()
                                   ? static_cast<std::int64_t>(meanNs(m_durations[i]))
                                   : std::llround(base::medianOf(m_typical[i]))};
        }
        return std::move(m_model);
    }

  private:
    using Positions = base::IdVector<graph::NodeTag, graph::WorkPosition>;

    void addMeasured(ReplayIteration iteration, const Positions* positions) {
        const bool anyCut = sumOwnWork(iteration.graph);
        for (std::size_t i = 0; i < iteration.graph.nodes().size(); ++i) {
            const NodeId id = NodeId::at(i);
            const bool isWork = iteration.graph.nodes()[id].kind == NodeKind::Work;
            const int position = isWork ? positionOf((*positions)[id]) : -1;
            addPause(iteration, id, position);
            addNode(iteration, id, position);
        }
        if (anyCut) addShares(iteration);
        m_model.iterations.push_back(std::move(iteration));
    }

    // What the pieces of a task take together: its own work without its inner collectives.
    struct OwnWork {
        std::int64_t sum = 0;
        std::int32_t pieces = 0;
        bool counted = false;
        bool cut = false;  // a part of it is in another window
    };

    // True where one piece of work has several nodes.
    bool sumOwnWork(const graph::TaskGraph& graph) {
        bool anyCut = false;
        for (std::size_t i = 0; i < m_ownOf.size(); ++i) {
            if (m_ownOf[i] == nullptr) continue;
            m_ownOf[i]->sum += graph.nodes()[NodeId::at(i)].duration.ns;
            anyCut |= ++m_ownOf[i]->pieces > 1;
        }
        return anyCut;
    }

    void addShares(ReplayIteration& iteration) {
        for (std::size_t i = 0; i < m_ownOf.size(); ++i) {
            const OwnWork* own = m_ownOf[i];
            if (own == nullptr || own->pieces == 1 || own->cut) {
                iteration.share.push_back(1);
            } else {
                const auto recorded =
                    static_cast<double>(iteration.graph.nodes()[NodeId::at(i)].duration.ns);
                iteration.share.push_back(own->sum > 0 ? recorded / static_cast<double>(own->sum)
                                                       : 1.0 / own->pieces);
            }
        }
    }

    int positionOf(const graph::WorkPosition& position) {
        return m_byPosition.try_emplace(position, static_cast<int>(m_byPosition.size()))
            .first->second;
    }

    void addOperation(ReplayOperation operation, bool together) {
        operation.together = together;
        m_model.operations.push_back(std::move(operation));
        m_durations.emplace_back();
        m_typical.emplace_back();
    }

    void addNode(ReplayIteration& iteration, NodeId id, int position) {
        const Node& node = iteration.graph.nodes()[id];
        if (node.kind == NodeKind::Ready) {
            iteration.operation.push_back(kNone);
            iteration.link.push_back(kNone);
            iteration.cell.push_back(kNone);
            return;
        }
        const auto [known, isNew] =
            m_byKind.try_emplace(kindKey(m_trace, node, position), m_durations.size());
        if (isNew) addOperation(operationOf(m_trace, node), isTogether(node));
        const auto operation = static_cast<std::uint32_t>(known->second);
        iteration.operation.push_back(operation);
        iteration.link.push_back(linkOf(node, peerOf(node)));
        iteration.cell.push_back(cellOf({operation, node.rank, node.stage, iteration.link.back()}));
        OwnWork* own = m_ownOf[id.index()];
        if (node.cut || (own != nullptr && own->cut)) {
            iteration.fixed.resize(iteration.graph.nodes().size(), false);
            iteration.fixed[id.index()] = true;
            return;
        }
        if (!iteration.counts(id.index())) return;
        if (own != nullptr && own->counted) return;
        if (own != nullptr) own->counted = true;
        const std::int64_t duration = own != nullptr ? own->sum : node.duration.ns;
        if (isIncomplete(node)) {
            m_incomplete.push_back({m_model.iterations.size(), id.index()});
            return;
        }
        m_durations[operation].push_back(duration);
        m_values[iteration.cell.back()].push_back({node.microbatch, duration});
    }

    // A communication some of whose members were not recorded: how long its parts waited for them
    // nobody knows.
    [[nodiscard]] bool isIncomplete(const Node& node) const {
        if (node.kind != NodeKind::Transfer || node.source < 0) return false;
        const trace::Annotations& found = m_trace.annotations();
        const trace::Transfer& transfer =
            found.transfers[trace::TransferId::at(static_cast<std::size_t>(node.source))];
        return !transfer.match.valid() || !found.matches[transfer.match].complete;
    }

    // Its parts take no longer than is usual of their operation. What is longer was spent waiting
    // for members that nobody knows: a pause of no rank.
    void settleIncomplete() {
        std::vector<std::optional<std::int64_t>> usual;
        for (std::vector<std::int64_t>& durations : m_durations)
            usual.push_back(durations.empty() ? std::optional<std::int64_t>{}
                                              : base::medianOf(durations));
        for (const auto& [which, at] : m_incomplete) {
            ReplayIteration& iteration = m_model.iterations[which];
            const Node& node = iteration.graph.nodes()[NodeId::at(at)];
            const std::uint32_t operation = iteration.operation[at];
            base::Duration duration = node.duration;
            if (usual[operation] && duration.ns > *usual[operation]) {
                duration = {*usual[operation]};
                if (iteration.recorded.empty()) {
                    for (const Node& one : iteration.graph.nodes())
                        iteration.recorded.push_back({one.duration, one.delay});
                }
                iteration.recorded[at] = {duration, node.delay + (node.duration - duration)};
                iteration.pauseCell[at] = kNone;
            }
            m_durations[operation].push_back(duration.ns);
            m_values[iteration.cell[at]].push_back({node.microbatch, duration.ns});
        }
    }

    using CellKey = std::tuple<std::uint32_t, std::int32_t, std::int32_t, std::uint32_t>;

    std::uint32_t cellOf(const CellKey& key) {
        const auto [known, isNew] =
            m_byCell.try_emplace(key, static_cast<std::uint32_t>(m_model.cells.size()));
        if (isNew) {
            ReplayCell cell;
            std::tie(cell.operation, cell.rank, cell.stage, cell.link) = key;
            m_model.cells.push_back(std::move(cell));
            m_values.emplace_back();
        }
        return known->second;
    }

    void finishCells() {
        for (std::size_t i = 0; i < m_model.cells.size(); ++i) {
            ReplayCell& cell = m_model.cells[i];
            std::vector<std::int64_t> durations;
            std::map<std::int32_t, MicrobatchTime> byMicrobatch;
            for (const auto& [microbatch, duration] : m_values[i]) {
                durations.push_back(duration);
                MicrobatchTime& time = byMicrobatch[microbatch];
                time.microbatch = microbatch;
                ++time.count;
                time.sum += static_cast<double>(duration);
                cell.sum += static_cast<double>(duration);
            }
            cell.count = static_cast<std::int64_t>(durations.size());
            for (const auto& [microbatch, time] : byMicrobatch) cell.microbatches.push_back(time);
            const ReplayOperation& operation = m_model.operations[cell.operation];
            const bool ofMicrobatches = !operation.together && cell.stage >= 0;
            cell.typical =
                ofMicrobatches ? meanNs(durations) : static_cast<double>(base::medianOf(durations));
            if (!operation.together && cell.count > 0)
                m_typical[cell.operation].push_back(cell.typical);
        }
    }

    void addPause(ReplayIteration& iteration, NodeId id, int position) {
        const Node& node = iteration.graph.nodes()[id];
        const auto [kind, isNewKind] =
            m_byPauseKind.try_emplace(pauseKindOf(m_trace, iteration.graph, id, position),
                                      static_cast<std::uint32_t>(m_pausesOfKind.size()));
        if (isNewKind) m_pausesOfKind.emplace_back();
        const std::int32_t rank = pausedRank(node);
        const auto [cell, isNew] =
            m_byPauseCell.try_emplace({kind->second, rank, node.stage},
                                      static_cast<std::uint32_t>(m_model.pauseCells.size()));
        if (isNew) {
            m_model.pauseCells.push_back({kind->second, rank, node.stage, 0});
            m_pausesOf.emplace_back();
        }
        const std::int64_t delay = recordedTime(iteration, id.index()).delay.ns;
        iteration.pauseCell.push_back(cell->second);
        if (!iteration.counts(id.index())) return;
        m_pausesOfKind[kind->second].push_back(delay);
        m_pausesOf[cell->second].push_back(delay);
    }

    // A communication is held up by its last member.
    std::int32_t pausedRank(const Node& node) const {
        if (node.kind != NodeKind::Ready || node.source < 0) return node.rank;
        const trace::RankId last =
            m_trace.annotations()
                .matches[trace::MatchId::at(static_cast<std::size_t>(node.source))]
                .lastRank;
        return last.valid() ? static_cast<std::int32_t>(last.index()) : -1;
    }

    std::uint32_t linkOf(const Node& node, std::int32_t peer) {
        if (peer < 0 || node.rank < 0 || node.dimension != trace::Dimension::Pp) return kNone;
        return linkBetween(m_model.ranks[static_cast<std::size_t>(node.rank)].number, peer);
    }

    std::uint32_t linkBetween(std::int32_t a, std::int32_t b) {
        const std::pair<std::int32_t, std::int32_t> ends = std::minmax(a, b);
        const auto [known, isNew] =
            m_byEnds.try_emplace(ends, static_cast<std::uint32_t>(m_model.links.size()));
        if (isNew) m_model.links.push_back(ends);
        return known->second;
    }

    std::int32_t peerOf(const Node& node) const {
        if (node.kind != NodeKind::Transfer) return -1;
        return m_trace.annotations()
            .transfers[trace::TransferId::at(static_cast<std::size_t>(node.source))]
            .peer;
    }

    const trace::Trace& m_trace;
    ReplayModel m_model;
    std::vector<std::vector<std::int64_t>> m_durations;  // [operation], ns
    std::vector<std::vector<double>> m_typical;          // [operation], of its cells, ns
    std::vector<std::vector<std::pair<std::int32_t, std::int64_t>>> m_values;  // [cell]
    std::vector<std::vector<std::int64_t>> m_pausesOf;                         // [pause cell], ns
    std::vector<std::vector<std::int64_t>> m_pausesOfKind;                     // [pause kind], ns
    std::vector<OwnWork> m_tasks;                                              // [TaskId index]
    std::map<const Timer*, std::size_t> m_byTimer;
    std::vector<std::pair<std::size_t, std::size_t>> m_incomplete;  // iteration, node
    std::vector<OwnWork*> m_ownOf;  // [node] of the graph being added; null where it is whole
    std::map<graph::WorkPosition, int> m_byPosition;
    std::map<KindKey, std::size_t> m_byKind;
    std::map<CellKey, std::uint32_t> m_byCell;
    std::map<PauseKind, std::uint32_t> m_byPauseKind;
    std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, std::uint32_t> m_byPauseCell;
    std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> m_byEnds;
};

void noteUnusable(const base::Error& error, std::int32_t iteration,
                  base::Diagnostics& diagnostics) {
    diagnostics.add("iteration_not_replayed",
                    fmt::format("iteration {} cannot be replayed: {}", iteration, error.message));
}

void addAll(ModelMaker& maker, std::vector<base::Result<graph::WorkGraph>> graphs,
            std::span<const graph::IterationWindow> windows, base::Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        if (!graphs[i]) {
            noteUnusable(graphs[i].error(), windows[i].iteration, diagnostics);
        } else {
            maker.add(std::move(*graphs[i]), windows[i]);
        }
    }
}

// Where the iterations cannot be replayed together, each by itself.
void addStretch(const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
                ModelMaker& maker, base::Diagnostics& diagnostics) {
    const graph::IterationWindow* next = windowAfter(run, windows.back().iteration);
    const std::vector<graph::IterationWindow> all = withWarmUp(run, windows);
    if (auto graph = graph::measuredGraph(run, all)) {
        if (maker.add(std::move(*graph), all, all.size() - windows.size(), next)) return;
    }
    if (windows.size() == 1) {
        auto graph = graph::measuredGraph(run, windows);
        if (!graph) return noteUnusable(graph.error(), windows.front().iteration, diagnostics);
        maker.add(std::move(*graph), windows, 0, next);
        return;
    }
    for (std::size_t w = 0; w < windows.size(); ++w)
        addStretch(run, windows.subspan(w, 1), maker, diagnostics);
}

// Launches cost nothing in the replay of coarse timers, unless much of the steps hangs on them.
void keepUnexplained(ModelMaker& maker, base::Diagnostics& diagnostics) {
    const ReplaySummary bare = replaySummary(maker.soFar());
    if (bare.predicted >= bare.measured || bare.errorFraction <= kMostUnexplained) return;
    maker.keepLaunches();
    diagnostics.add(
        "launches_kept",
        fmt::format("steps take {:.1f} % longer than their timers explain; work that starts later "
                    "than its dependencies allow counts as a pause of its rank",
                    100 * bare.errorFraction));
}

}  // namespace

ReplayModel replayModel(const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
                        base::Diagnostics& diagnostics) {
    const trace::Trace& trace = run.trace();
    ModelMaker maker(trace, run.resolution().value);
    auto steps = graph::timerGraphs(trace, windows);
    if (steps && !steps->empty()) {
        for (graph::TimerStep& step : *steps) maker.add(std::move(step));
        keepUnexplained(maker, diagnostics);
        return std::move(maker).finish();
    }
    if (!steps) diagnostics.add("timers_unusable", steps.error().message);
    if (trace.annotations().tasks.empty()) {
        // One rank alone has no peers.
        if (run.trainingRanks().size() > 1)
            addAll(maker, graph::workGraphs(run, windows), windows, diagnostics);
        return std::move(maker).finish();
    }
    for (std::size_t first = 0; first < windows.size();) {
        const std::size_t count = stretchFrom(run, windows.subspan(first));
        addStretch(run, windows.subspan(first, count), maker, diagnostics);
        first += count;
    }
    return std::move(maker).finish();
}

}  // namespace pleat::analysis
