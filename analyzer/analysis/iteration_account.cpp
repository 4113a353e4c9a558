#include "analysis/iteration_account.h"

#include <fmt/format.h>

#include <utility>

namespace pleat::analysis {

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
            account.graph = std::move(*graph);
            return account;
        } else {
            diagnostics.add(base::Severity::Error, "task_graph_unusable",
                            fmt::format("iteration {}: {}; its bubble has no causes and it is not "
                                        "on the critical path",
                                        window.iteration, graph.error().message));
        }
    }
    for (std::size_t i = 0; i < activities.size(); ++i)
        account.causes.push_back(
            causesWithoutTasks(explainer, activities[i], account.partitions[i]));
    return account;
}

}  // namespace pleat::analysis
