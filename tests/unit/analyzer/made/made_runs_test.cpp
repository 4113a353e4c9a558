// A thousand made runs, drawn at random: each recorder with the errors of its timers, each way of
// running that was answered wrongly once, each cause. They are read as files are and judged as a
// person reads the answer: is the cause that was put in named first, with its rank; is nobody named
// where nothing was put in; do the parts of each rank's time equal what happened, as far as the
// timers allow.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "support/made_run.h"
#include "unit/analyzer/made/made_verdict.h"

namespace pleat::testing {
namespace {

std::int32_t numberFrom(const char* variable, std::int32_t usual) {
    const char* const given = std::getenv(variable);
    return given == nullptr ? usual : std::atoi(given);
}

// Of all ranks' time, in a run in which nothing went unrecorded.
constexpr double kMostUnknown = 0.02;

struct Count {
    int runs = 0, blamed = 0, accounted = 0, explained = 0;
    double unknown = 0, mostUnknown = 0;
    void add(const MadeVerdict& verdict) {
        ++runs;
        blamed += verdict.blame.empty() ? 1 : 0;
        accounted += verdict.account.empty() ? 1 : 0;
        explained += verdict.unknown <= kMostUnknown ? 1 : 0;
        unknown += verdict.unknown;
        mostUnknown = std::max(mostUnknown, verdict.unknown);
    }
};

void print(const std::string& what, const Count& count) {
    const auto share = [&](double of) { return 100.0 * of / count.runs; };
    std::printf(
        "%-44s %4d runs: cause right %5.1f %%, accounts %5.1f %%, explained %5.1f %%, unknown "
        "%4.1f %% mean %5.1f %% most\n",
        what.c_str(), count.runs, share(count.blamed), share(count.accounted),
        share(count.explained), share(count.unknown), 100 * count.mostUnknown);
}

// PLEAT_MADE_FIRST and PLEAT_MADE_COUNT choose others; PLEAT_MADE_VERBOSE=1 prints every miss;
// PLEAT_MADE_WRITE is a folder for their recordings.
TEST(MadeRuns, TheInjectedCauseIsNamedAndTheAccountsAreTrue) {
    const std::int32_t first = numberFrom("PLEAT_MADE_FIRST", 0);
    const std::int32_t count = numberFrom("PLEAT_MADE_COUNT", 1'000);
    const bool verbose = numberFrom("PLEAT_MADE_VERBOSE", 0) != 0;
    std::map<std::string, Count> byKind;
    Count all;
    for (std::int32_t number = first; number < first + count; ++number) {
        const MadeRun run = madeRun(number);
        const MadeVerdict verdict = judge(run);
        if (const char* const folder = std::getenv("PLEAT_MADE_WRITE")) writeFiles(run, folder);
        all.add(verdict);
        byKind[fmt::format("recorder {}, {}", toString(run.recorder), toString(run.feature))].add(
            verdict);
        byKind[fmt::format("cause {}", toString(run.cause))].add(verdict);
        byKind[fmt::format("cause {}, {}", toString(run.cause), toString(run.recorder))].add(
            verdict);
        byKind[fmt::format("noise {:3} us, {}", run.noise.ns / 1'000, toString(run.recorder))].add(
            verdict);
        if (!verbose) continue;
        const std::string unknown =
            verdict.unknown <= kMostUnknown
                ? std::string()
                : fmt::format("unknown: {:.1f} % of all ranks' time", 100 * verdict.unknown);
        for (const std::string& miss : {verdict.blame, verdict.account, unknown}) {
            if (!miss.empty()) std::printf("%s\n    %s\n", run.describe().c_str(), miss.c_str());
        }
    }
    for (const auto& [kind, counted] : byKind) print(kind, counted);
    print("all", all);
    // What is reached; what a person needs is 99 of 100.
    EXPECT_GE(all.blamed, all.runs * 99 / 100);
    EXPECT_GE(all.accounted, all.runs * 99 / 100);
}

// The truth holds together: the parts of a rank's time are the iteration, and the cause costs what
// it is said to.
TEST(MadeRuns, PartsOfTheTruthSumToTheIteration) {
    for (std::int32_t number = 0; number < 100; ++number) {
        const MadeRun run = madeRun(number);
        SCOPED_TRACE(run.describe());
        for (const TrueAccount& account : run.accounts) {
            const std::int64_t sum = account.compute_ns + account.moving_ns + account.copy_ns +
                                     account.waiting_ns + account.bubble_ns;
            EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(run.iteration.ns), 8);
        }
        EXPECT_TRUE(run.cause == Cause::None ? run.slowdown == 1
                                             : run.slowdown >= 1.05 && run.slowdown <= 1.8);
    }
}

// Who waits for a rank that pauses seems to pause too, and all pauses together cost most.
TEST(MadeRuns, OfAllPausesThoseOfTheRankThatPausesStandFirst) {
    for (const std::int32_t number : {1148, 1448, 1616, 3116, 3738})
        EXPECT_EQ(judge(madeRun(number)).blame, "") << madeRun(number).describe();
}

// A slow link makes the ranks, stage and replica at its ends slow as well.
TEST(MadeRuns, ASlowLinkStandsBeforeThePlacesThatItSlows) {
    for (const std::int32_t number : {22, 185, 304, 350, 1661})
        EXPECT_EQ(judge(madeRun(number)).blame, "") << madeRun(number).describe();
}

// Timers are wrong by the noise at most, and what one thread did stays in its order.
TEST(MadeRuns, TimersAreWrongByTheirNoiseAtMost) {
    for (std::int32_t number = 0; number < 100; ++number) {
        const MadeRun run = madeRun(number);
        if (run.feature == Feature::MissingCollective || run.feature == Feature::Digested) continue;
        SCOPED_TRACE(run.describe());
        ASSERT_EQ(run.recorded.transfers.size(), run.happened.transfers.size());
        for (std::size_t i = 0; i < run.happened.transfers.size(); ++i) {
            const base::Interval was = run.happened.transfers[i].span;
            const base::Interval is = run.recorded.transfers[i].span;
            // A begin that was pushed behind the end before it is late by that end's error too.
            EXPECT_LE(std::abs((is.begin - was.begin).ns), 2 * run.noise.ns);
            EXPECT_LE(std::abs((is.end - was.end).ns), 2 * run.noise.ns);
            EXPECT_LE(is.begin, is.end);
        }
        for (std::size_t i = 1; i < run.recorded.tasks.size(); ++i) {
            const SyntheticTask& before = run.recorded.tasks[i - 1];
            const SyntheticTask& task = run.recorded.tasks[i];
            EXPECT_TRUE(before.rank != task.rank || before.span.end <= task.span.begin);
        }
    }
}

// Nothing but the collectives says which ranks share a replica.
TEST(MadeRuns, TensorParallelRanksAreOneReplica) {
    int seen = 0;
    for (std::int32_t number = 0; number < 200; ++number) {
        const MadeRun run = madeRun(number);
        if (run.feature != Feature::WaitsInTasks || run.options.dp == 1) continue;
        SCOPED_TRACE(run.describe());
        ++seen;
        const std::int32_t pipeline = run.options.schedule.ranks(), tp = run.options.tp;
        const trace::Trace read = traceOf(run);
        for (const trace::Rank& rank : read.ranks()) {
            EXPECT_EQ(rank.coordinates.tp, rank.number % tp);
            EXPECT_EQ(rank.coordinates.pp, rank.number / tp % pipeline);
            EXPECT_EQ(rank.coordinates.dp, rank.number / tp / pipeline);
        }
    }
    EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace pleat::testing
