// What a recorded push/pop pair costs its program, beside a bare pair of clock readings: run under
// `pleat record` (scripts/bench.sh does). Without a recorder it says what a null pair costs.
#include <nvtx3/nvToolsExt.h>
#include <time.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "bench/ratio.h"
#include "collector/clock.h"
#include "collector/ticks.h"

namespace {

using namespace pleat;

constexpr int kPairs = 10'000;  // at a time: less than a ring holds
constexpr int kRounds = 300;

double threadSeconds() {
    return static_cast<double>(collector::readClock(CLOCK_THREAD_CPUTIME_ID)) / 1e9;
}

void pairs() {
    for (int i = 0; i < kPairs; ++i) {
        nvtxRangePushA("range");
        nvtxRangePop();
    }
}

void clockPairs(collector::TickSource source) {
    std::uint64_t sum = 0;
    for (int i = 0; i < kPairs; ++i)
        sum += collector::readTicks(source) ^ collector::readTicks(source);
    asm volatile("" : : "r"(sum));
}

// Nanoseconds of processor time a call of `work` takes per pair; the recorder empties the ring
// between calls.
template <class Work>
double nanosecondsPerPair(Work work) {
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) {
        const double before = threadSeconds();
        work();
        rounds.push_back((threadSeconds() - before) * 1e9 / kPairs);
        usleep(15'000);
    }
    return bench::median(rounds);
}

double pairsOfThreads(int count) {
    std::vector<double> each(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    for (double& value : each)
        threads.emplace_back([&value] { value = nanosecondsPerPair(pairs); });
    for (std::thread& thread : threads) thread.join();
    return bench::median(each);
}

}  // namespace

int main() {
    const collector::TickSource source = collector::chooseTickSource();
    const double bare = nanosecondsPerPair([source] { clockPairs(source); });
    const double one = pairsOfThreads(1), four = pairsOfThreads(4);
    fmt::print(
        "a bare pair of clock readings {:.1f} ns, a push/pop pair {:.1f} ns, on 4 threads {:.1f} "
        "ns\n",
        bare, one, four);
    bench::printAtMost("recorded push/pop pair / a bare pair of readings", one / bare, 1.4);
    bench::printAtMost("the same on 4 threads / on 1", four / one, 1.3);
}
