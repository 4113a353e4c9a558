// One simulation of a schedule of 10 240 tasks (budget: 2 ms) beside two smaller passes over it:
// its graph's earliest times alone, and a bare loop over its actions; the same with links that are
// shared and gradients that are synced (budget: 2 ms; 0.3 s for a million tasks). Ratios are of one
// run.
#include <benchmark/benchmark.h>

#include "advise/pipeline_workload.h"
#include "base/memory.h"
#include "graph/simulate.h"
#include "schedule/generators.h"

namespace {

using namespace pleat;

// 16 ranks x 4 chunks x 80 microbatches, forward and backward: 10 240 tasks.
schedule::Schedule interleaved() {
    auto made = schedule::makeSchedule("interleaved", {16, 80, 4, 16});
    return std::move(*made);
}

void simulateSchedule(benchmark::State& state) {
    const schedule::Schedule schedule = interleaved();
    for (auto _ : state) benchmark::DoNotOptimize(graph::simulate(schedule, {})->makespan);
}
BENCHMARK(simulateSchedule)->Unit(benchmark::kMillisecond);

void replayGraph(benchmark::State& state) {
    const auto simulation = graph::simulate(interleaved(), {});
    for (auto _ : state) benchmark::DoNotOptimize(graph::earliestTimes(simulation->graph).end);
}
BENCHMARK(replayGraph)->Unit(benchmark::kMillisecond);

advise::PipelineCosts costsOf(const schedule::Schedule& schedule) {
    advise::StageCosts stage;
    stage.forward = {250'000};
    stage.backward = {500'000};
    stage.messageBytes = 100'000;
    stage.gradientBytes = 10'000'000;
    advise::PipelineCosts costs;
    costs.stages.assign(static_cast<std::size_t>(schedule.placement.stages()), stage);
    costs.replicas = 2;
    costs.pipeline = {{2'000}, 10e9, 0.05};
    costs.oneLink = true;
    return costs;
}

void runOf(benchmark::State& state, const schedule::Schedule& schedule) {
    const advise::PipelineCosts costs = costsOf(schedule);
    for (auto _ : state) {
        const auto made = advise::workloadOf(schedule, costs, {}, 1);
        benchmark::DoNotOptimize(advise::run(made->workload)->size());
    }
}

void runWithResources(benchmark::State& state) { runOf(state, interleaved()); }
BENCHMARK(runWithResources)->Unit(benchmark::kMillisecond);

void runAMillionTasks(benchmark::State& state) {
    runOf(state, *schedule::makeSchedule("interleaved", {64, 1'984, 4, 64}));
}
BENCHMARK(runAMillionTasks)->Unit(benchmark::kMillisecond);

// The floor: a bare pass over the tasks of the schedule that sums their numbers.
void barePass(benchmark::State& state) {
    const schedule::Schedule schedule = interleaved();
    for (auto _ : state) {
        std::int64_t sum = 0;
        for (const auto& order : schedule.order) {
            for (const schedule::Action& action : order) sum += action.stage + action.microbatch;
        }
        benchmark::DoNotOptimize(sum);
    }
}
BENCHMARK(barePass)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argumentCount, char** arguments) {
    base::keepFreedMemory();  // as our programs do
    benchmark::Initialize(&argumentCount, arguments);
    benchmark::RunSpecifiedBenchmarks();
}
