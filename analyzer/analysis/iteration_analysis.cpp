#include "analysis/iteration_analysis.h"

#include <array>
#include <utility>

#include "analysis/iterations.h"
#include "annotate/advice.h"
#include "schedule/generators.h"

namespace pleat::analysis {
namespace {

using schedule::ActionKind;

// Mean durations of the iteration's tasks, as costs of a rank's whole share of the model.
graph::CostModel meanCosts(const graph::RunIndex& run, std::int32_t iteration,
                           std::int32_t chunks) {
    struct Sum {
        base::Duration time;
        std::int64_t count = 0;

        [[nodiscard]] base::Duration share(std::int32_t parts) const {
            return {count > 0 ? time.ns / count * parts : 0};
        }
    };
    Sum forward, backward, weight;
    for (const std::uint32_t position : run.itemsOf(iteration).tasks) {
        const trace::Task& task = run.trace().annotations().tasks[trace::TaskId::at(position)];
        Sum* sum = task.kind == ActionKind::Forward          ? &forward
                   : task.kind == ActionKind::WeightBackward ? &weight
                                                             : &backward;
        sum->time += task.span.length();
        ++sum->count;
    }
    graph::CostModel costs;
    costs.forward = forward.share(chunks);
    costs.backward = backward.share(chunks);
    costs.weight = weight.share(chunks);
    return costs;
}

std::optional<graph::Simulation> idealRun(const graph::RunIndex& run, std::int32_t iteration) {
    const auto& recognised = run.trace().annotations().schedule;
    if (!recognised) return std::nullopt;
    const auto made = schedule::makeSchedule(
        recognised->name,
        {recognised->ranks, recognised->microbatches, recognised->chunks, recognised->group});
    if (!made) return std::nullopt;  // an order that has no name
    auto simulated = graph::simulate(*made, meanCosts(run, iteration, recognised->chunks));
    if (!simulated) return std::nullopt;
    return std::move(*simulated);
}

void explainByGraph(const trace::Trace& trace, const IdleExplainer& explainer,
                    const std::vector<RankActivity>& activities, IterationAnalysis& analysis) {
    const graph::TaskGraph& graph = *analysis.graph;
    std::vector<Partition> partitions;
    for (const RankIteration& rank : analysis.ranks) partitions.push_back(rank.parts);
    auto gaps = locateBubbles(trace, explainer, graph, activities, partitions);
    for (std::size_t i = 0; i < gaps.size(); ++i) analysis.ranks[i].bubble = std::move(gaps[i]);
    analysis.path = measuredCriticalPath(graph, analysis.window.window);
    analysis.slack = graph::slack(graph, graph::earliestTimes(graph, analysis.window.window.begin));
}

}  // namespace

base::Result<IterationAnalysis> analyseIteration(const graph::RunIndex& run,
                                                 std::optional<std::int32_t> iteration) {
    const trace::Trace& trace = run.trace();
    const auto window = chooseIteration(run, iteration);
    if (!window) return window.error();
    IterationAnalysis analysis;
    analysis.window = *window;
    const std::vector<trace::RankId> ranks = trainingRanks(run);
    const auto activities = collectActivities(run, std::array{*window}, ranks).front();
    for (std::size_t i = 0; i < ranks.size(); ++i)
        analysis.ranks.push_back({ranks[i], partition(activities[i]), {}});

    const IdleExplainer explainer(run);
    if (trace.annotations().tasks.empty()) {
        analysis.withoutGraph = annotate::kNoActionNamed;
    } else if (auto graph = graph::measuredGraph(run, *window); graph) {
        analysis.graph = std::move(*graph);
    } else {
        analysis.withoutGraph = graph.error().message;
    }
    if (analysis.graph) {
        explainByGraph(trace, explainer, activities, analysis);
    } else {
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            analysis.ranks[i].bubble =
                locateWithoutTasks(explainer, activities[i], analysis.ranks[i].parts);
        }
    }
    analysis.ideal = idealRun(run, window->iteration);
    return analysis;
}

}  // namespace pleat::analysis
