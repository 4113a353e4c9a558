#include "analysis/iteration_account.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "analysis/critical_path.h"

namespace pleat::analysis {
namespace {

// "forward of microbatch 3 on rank 1".
std::string describe(const trace::Trace& trace, const graph::Node& node) {
    const std::string what =
        node.microbatch < 0
            ? kindOf(trace, node)
            : fmt::format("{} of microbatch {}", kindOf(trace, node), node.microbatch);
    if (node.rank < 0) return what;
    const auto rank = trace::RankId(static_cast<std::uint32_t>(node.rank));
    return fmt::format("{} on rank {}", what, trace.ranks()[rank].number);
}

void noteContradictions(const trace::Trace& trace, const graph::TaskGraph& graph,
                        base::Diagnostics& diagnostics) {
    const graph::Contradictions& found = graph.contradictions();
    if (found.count == 0 || !found.before.valid()) return;
    diagnostics.add(
        "dependency_contradicted",
        fmt::format(
            "{} ends {:.3f} ms after {} starts, although that must follow it; dependency dropped",
            describe(trace, graph.nodes()[found.before]),
            static_cast<double>(found.overlap.ns) / 1e6,
            describe(trace, graph.nodes()[found.after])),
        found.count);
}

}  // namespace

IterationAccount accountIteration(const graph::RunIndex& run, const IdleExplainer& explainer,
                                  const graph::IterationWindow& window,
                                  std::span<const RankActivity> activities,
                                  base::Diagnostics& diagnostics) {
    const trace::Trace& trace = run.trace();
    IterationAccount account;
    for (const RankActivity& activity : activities)
        account.partitions.push_back(partition(activity));
    if (!trace.annotations().tasks.empty()) {
        if (auto graph = graph::measuredGraph(run, window); graph) {
            account.causes =
                attributeBubbles(trace, explainer, *graph, activities, account.partitions);
            account.idleWaits = idleWaits(*graph, activities, account.partitions);
            noteContradictions(trace, *graph, diagnostics);
            account.graph = std::move(*graph);
            return account;
        } else {
            diagnostics.add("task_graph_unusable",
                            fmt::format("iteration {}: {}; its bubble has no causes and it is not "
                                        "on the critical path",
                                        window.iteration, graph.error().message));
        }
    }
    account.idleWaits.resize(activities.size());
    for (std::size_t i = 0; i < activities.size(); ++i)
        account.causes.push_back(
            causesWithoutTasks(explainer, activities[i], account.partitions[i]));
    return account;
}

}  // namespace pleat::analysis
