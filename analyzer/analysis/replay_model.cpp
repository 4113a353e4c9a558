#include "analysis/replay_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/critical_path.h"
#include "analysis/ideal_replay.h"
#include "graph/timer_graph.h"

namespace pleat::analysis {
namespace {

using annotate::Timer;
using annotate::TimerRole;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using schedule::ActionKind;

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
std::tuple<int, int, int, std::int64_t> kindKey(const trace::Trace& trace, const Node& node) {
    if (node.kind == NodeKind::Task) return {0, static_cast<int>(node.action), 0, 0};
    if (node.kind == NodeKind::Phase) return {1, isDataPhase(trace, node) ? 1 : 0, 0, 0};
    const trace::Transfer& transfer =
        trace.annotations().transfers[trace::TransferId::at(static_cast<std::size_t>(node.source))];
    return {2 + static_cast<int>(transfer.operation), static_cast<int>(transfer.dimension),
            transfer.action ? 1 + static_cast<int>(*transfer.action) : 0, transfer.bytes};
}

class ModelMaker {
  public:
    explicit ModelMaker(const trace::Trace& trace) : m_trace(trace) {
        for (const trace::Rank& rank : trace.ranks())
            m_model.ranks.push_back({rank.number, rank.coordinates.dp});
    }

    void add(graph::TimerStep step) {
        m_model.ofTimers = true;
        ReplayIteration iteration{step.iteration, step.measured, {}, std::move(step.graph), {}, {}};
        std::size_t next = 0;
        for (const Node& node : iteration.graph.nodes()) {
            const graph::TimerNode& timer = step.timers[NodeId::at(next++)];
            if (timer.timer == nullptr) {
                addReady(iteration);
                continue;
            }
            const auto [known, isNew] = m_byTimer.try_emplace(timer.timer, m_durations.size());
            if (isNew) addOperation(operationOf(*timer.timer), isTogether(node));
            const std::int32_t peer = timer.peer.valid() ? m_trace.ranks()[timer.peer].number : -1;
            addNode(iteration, known->second, node, peer);
        }
        m_model.iterations.push_back(std::move(iteration));
    }

    void add(graph::TaskGraph graph, const graph::IterationWindow& window) {
        base::TraceTime last = window.window.begin;
        for (const Node& node : graph.nodes()) last = std::max(last, node.measured.end);
        ReplayIteration iteration{window.iteration,
                                  window.window.length(),
                                  window.window.end - last,
                                  std::move(graph),
                                  {},
                                  {}};
        for (const Node& node : iteration.graph.nodes()) {
            if (node.kind == NodeKind::Ready) {
                addReady(iteration);
                continue;
            }
            const auto [known, isNew] =
                m_byKind.try_emplace(kindKey(m_trace, node), m_durations.size());
            if (isNew) addOperation(operationOf(m_trace, node), isTogether(node));
            addNode(iteration, known->second, node, peerOf(node));
        }
        m_model.iterations.push_back(std::move(iteration));
    }

    ReplayModel finish() && {
        for (std::size_t i = 0; i < m_durations.size(); ++i)
            m_model.operations[i].ideal =
                m_together[i] ? median(m_durations[i]) : mean(m_durations[i]);
        return std::move(m_model);
    }

  private:
    static void addReady(ReplayIteration& iteration) {
        iteration.operation.push_back(kNone);
        iteration.link.push_back(kNone);
    }

    void addOperation(ReplayOperation operation, bool together) {
        m_model.operations.push_back(std::move(operation));
        m_durations.emplace_back();
        m_together.push_back(together);
    }

    void addNode(ReplayIteration& iteration, std::size_t operation, const Node& node,
                 std::int32_t peer) {
        iteration.operation.push_back(static_cast<std::uint32_t>(operation));
        m_durations[operation].push_back(node.duration.ns);
        std::uint32_t link = kNone;
        if (peer >= 0 && node.rank >= 0 && node.dimension == trace::Dimension::Pp)
            link = linkBetween(m_model.ranks[static_cast<std::size_t>(node.rank)].number, peer);
        iteration.link.push_back(link);
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

    static base::Duration mean(const std::vector<std::int64_t>& durations) {
        std::int64_t sum = 0;
        for (const std::int64_t duration : durations) sum += duration;
        return {sum / std::max<std::int64_t>(1, static_cast<std::int64_t>(durations.size()))};
    }

    // Of an even number: the mean of the two in the middle.
    static base::Duration median(std::vector<std::int64_t>& durations) {
        const auto upper = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
        std::nth_element(durations.begin(), upper, durations.end());
        if (durations.size() % 2 == 1) return {*upper};
        return {(*upper + *std::max_element(durations.begin(), upper)) / 2};
    }

    const trace::Trace& m_trace;
    ReplayModel m_model;
    std::vector<std::vector<std::int64_t>> m_durations;  // [operation], ns
    std::vector<bool> m_together;                        // [operation]
    std::map<const Timer*, std::size_t> m_byTimer;
    std::map<decltype(kindKey(m_trace, {})), std::size_t> m_byKind;
    std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> m_byEnds;
};

void noteUnusable(const base::Error& error, std::int32_t iteration,
                  base::Diagnostics& diagnostics) {
    diagnostics.add(base::Severity::Error, "iteration_not_replayed",
                    fmt::format("iteration {} cannot be replayed: {}", iteration, error.message));
}

}  // namespace

const ReplayOperation* ReplayModel::operationOf(const ReplayIteration& iteration,
                                                std::size_t node) const {
    const std::uint32_t index = iteration.operation[node];
    return index == kNone ? nullptr : &operations[index];
}

ReplayModel replayModel(const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
                        base::Diagnostics& diagnostics) {
    const trace::Trace& trace = run.trace();
    ModelMaker maker(trace);
    auto steps = graph::timerGraphs(trace, windows);
    if (steps && !steps->empty()) {
        for (graph::TimerStep& step : *steps) maker.add(std::move(step));
        return std::move(maker).finish();
    }
    if (!steps) diagnostics.add(base::Severity::Info, "timers_unusable", steps.error().message);
    for (const graph::IterationWindow& window : windows) {
        auto graph = graph::measuredGraph(run, window);
        if (graph) {
            maker.add(std::move(*graph), window);
        } else {
            noteUnusable(graph.error(), window.iteration, diagnostics);
        }
    }
    return std::move(maker).finish();
}

DurationOf recordedDurations() {
    return [](const ReplayIteration& iteration, std::size_t node) {
        return iteration.graph.nodes()[NodeId::at(node)].duration;
    };
}

DurationOf idealDurations(const ReplayModel& model) {
    return [&model](const ReplayIteration& iteration, std::size_t node) {
        return model.operationOf(iteration, node)->ideal;
    };
}

std::vector<base::Duration> replayed(const ReplayModel& model, const DurationOf& duration) {
    std::vector<base::Duration> lengths;
    std::vector<base::Duration> durations;
    for (const ReplayIteration& iteration : model.iterations) {
        durations.assign(iteration.graph.nodes().size(), {});
        for (std::size_t node = 0; node < durations.size(); ++node) {
            if (iteration.operation[node] != kNone) durations[node] = duration(iteration, node);
        }
        lengths.push_back(graph::earliestTimes(iteration.graph, {}, durations).end -
                          base::TraceTime{} + iteration.rest);
    }
    return lengths;
}

ReplaySummary replaySummary(const ReplayModel& model) {
    const std::vector<base::Duration> lengths = replayed(model, recordedDurations());
    double measured = 0, error = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        measured += static_cast<double>(model.iterations[i].measured.ns);
        error += static_cast<double>(std::abs((lengths[i] - model.iterations[i].measured).ns));
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, lengths.size()));
    return {{std::llround(meanOf(lengths))},
            {std::llround(measured / count)},
            measured > 0 ? error / measured : 0};
}

double meanOf(std::span<const base::Duration> durations) {
    double sum = 0;
    for (const base::Duration duration : durations) sum += static_cast<double>(duration.ns);
    return durations.empty() ? 0 : sum / static_cast<double>(durations.size());
}

}  // namespace pleat::analysis
