// One simulation of a schedule of 10 240 tasks (budget: 2 ms) beside two smaller passes over it:
// its graph's earliest times alone, and a bare loop over its actions. Ratios are of one run.
#include <benchmark/benchmark.h>

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
