#include "analysis/rank_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "analysis/critical_path.h"
#include "analysis/device_work.h"
#include "analysis/iterations.h"
#include "graph/device_graph.h"

namespace pleat::analysis {
namespace {

using graph::NodeId;
using trace::EventId;
using trace::RankId;

constexpr std::size_t kMostRanksNamed = 8;

std::string named(std::vector<std::int32_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), kMostRanksNamed); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
    if (numbers.size() > kMostRanksNamed)
        text += fmt::format(" and {} more", numbers.size() - kMostRanksNamed);
    return text;
}

base::Result<RankId> chooseRank(const graph::RunIndex& run, std::optional<std::int32_t> number) {
    const trace::Trace& trace = run.trace();
    const std::vector<bool>& has = run.onDevice();
    std::vector<RankId> ranks;
    std::vector<std::int32_t> numbers;
    for (std::size_t i = 0; i < has.size(); ++i) {
        const RankId rank = RankId::at(i);
        if (!has[i] || trace.ranks()[rank].number < 0) continue;
        if (number == trace.ranks()[rank].number) return rank;
        ranks.push_back(rank);
        // Devices of one process have one number; the path is that of the first.
        if (std::find(numbers.begin(), numbers.end(), trace.ranks()[rank].number) == numbers.end())
            numbers.push_back(trace.ranks()[rank].number);
    }
    if (ranks.empty()) {
        return base::Error{
            base::ErrorCode::Input,
            fmt::format("{}no device work in the trace, so there is no critical "
                        "path{}; pleat info shows what was recorded",
                        number ? "" : "no pipeline tasks and ", number ? " of one rank" : "")};
    }
    if (number) {
        return base::Error{base::ErrorCode::Usage,
                           fmt::format("rank {}: no device work was recorded; there is device work "
                                       "of ranks {}",
                                       *number, named(numbers))};
    }
    if (ranks.size() > 1) {
        return base::Error{
            base::ErrorCode::Usage,
            fmt::format("nothing names pipeline tasks, so each rank has a critical "
                        "path of its own; choose a rank: {}",
                        named(numbers)),
            base::Advice{base::Advice::Setting::Rank, fmt::to_string(numbers.front())}};
    }
    return ranks.front();
}

class Reader {
  public:
    Reader(const trace::Trace& trace, const graph::TaskGraph& graph, base::Interval window)
        : m_trace(trace), m_graph(graph), m_window(window) {}

    void read(RankPath& result) {
        const std::vector<PathPiece> path = measuredCriticalPath(m_graph, m_window);
        const PathAttribution shares = attribute(m_trace, m_graph, path);
        result.length = shares.length;
        result.byKind = shares.byKind;
        std::unordered_set<NodeId> onPath;
        for (const PathPiece& piece : path) {
            result.pieces.push_back(describe(piece));
            if (!piece.pause) onPath.insert(piece.node);
        }
        result.longest.resize(path.size());
        std::iota(result.longest.begin(), result.longest.end(), std::size_t{0});
        std::stable_sort(result.longest.begin(), result.longest.end(),
                         [&](std::size_t a, std::size_t b) {
                             return result.pieces[a].length > result.pieces[b].length;
                         });
        addWork(onPath, result.work);
    }

  private:
    EventId eventOf(const graph::Node& node) const {
        return EventId::at(static_cast<std::size_t>(node.source));
    }
    const trace::Lane& laneOf(const graph::Node& node) const {
        return m_trace.lanes()[m_trace.event(eventOf(node)).lane];
    }

    RankPathPiece describe(const PathPiece& piece) const {
        RankPathPiece described{kindOf(m_trace, m_graph, piece),
                                "",
                                std::nullopt,
                                0,
                                piece.span.begin - m_window.begin,
                                piece.span.length()};
        if (!piece.node.valid()) return described;
        const graph::Node& node = m_graph.nodes()[piece.node];
        described.name = m_trace.name(eventOf(node));
        described.laneKind = laneOf(node).kind;
        described.lane = laneOf(node).nativeId;
        return described;
    }

    void addWork(const std::unordered_set<NodeId>& onPath, std::vector<WorkSlack>& work) const {
        const auto slacks = graph::slack(m_graph, graph::earliestTimes(m_graph, m_window.begin));
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            const NodeId id = NodeId::at(i);
            const graph::Node& node = m_graph.nodes()[id];
            if (node.kind != graph::NodeKind::Work) continue;
            work.push_back({std::string(m_trace.name(eventOf(node))), laneOf(node).nativeId,
                            node.measured.begin - m_window.begin, node.duration, slacks[id],
                            onPath.contains(id)});
        }
        std::stable_sort(work.begin(), work.end(), [](const WorkSlack& a, const WorkSlack& b) {
            return a.slack != b.slack ? a.slack < b.slack : a.duration > b.duration;
        });
    }

    const trace::Trace& m_trace;
    const graph::TaskGraph& m_graph;
    const base::Interval m_window;
};

}  // namespace

base::Result<RankPath> analyseRankPath(const graph::RunIndex& run, const RankPathOptions& options) {
    const trace::Trace& trace = run.trace();
    const auto rank = chooseRank(run, options.rank);
    if (!rank) return rank.error();
    const auto iteration = chooseIteration(run, options.iteration);
    if (!iteration) return iteration.error();
    const trace::Annotations& found = trace.annotations();
    const bool marked = !found.tasks.empty() || !found.iterations.empty();
    const base::Interval window = marked ? iteration->window : graph::recordedWork(trace, *rank);
    const auto made = graph::deviceGraph(trace, *rank, window);
    if (!made) return made.error().within(fmt::format("iteration {}", iteration->iteration));
    RankPath result;
    result.iteration = iteration->iteration;
    result.rank = trace.ranks()[*rank].number;
    result.diagnostics = trace.diagnostics();
    result.diagnostics.add(run.diagnostics());
    result.diagnostics.add(made->diagnostics);
    Reader(trace, made->graph, window).read(result);
    return result;
}

}  // namespace pleat::analysis
