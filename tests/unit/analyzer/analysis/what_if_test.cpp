// Replays with other durations: on a step small enough for paper, on balanced runs whose ideal is
// the run itself, and on runs with a known change.
#include "analysis/what_if.h"

#include <gtest/gtest.h>

#include <limits>

#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "trace/trace_builder.h"

namespace pleat::analysis {
namespace {

using testing::balancedOptions;
using testing::SyntheticOptions;

trace::Trace traceOf(const SyntheticOptions& options) {
    return *annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options)));
}

WhatIf answer(const trace::Trace& trace, const WhatIfOptions& options) {
    const auto result = analyseWhatIf(trace, options);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : WhatIf{};
}

std::string refusal(const trace::Trace& trace, const WhatIfOptions& options) {
    const auto result = analyseWhatIf(trace, options);
    if (result) return "accepted";
    EXPECT_EQ(result.error().code, base::ErrorCode::Usage);
    return result.error().message;
}

TEST(WhatIf, NothingChangedPredictsTheReplay) {
    const WhatIf result = answer(traceOf(balancedOptions("1f1b", 1)), {});
    EXPECT_EQ(result.predicted, result.replay);
    EXPECT_EQ(result.gain, 0);
    EXPECT_EQ(result.slowdown, 1);
    EXPECT_EQ(result.replayError, 0);
    EXPECT_EQ(result.iterations.size(), 2U);
    ASSERT_TRUE(result.ci95);
    EXPECT_EQ(result.ci95->first, result.predicted);
}

TEST(WhatIf, ABalancedRunIsItsOwnIdeal) {
    for (const auto& [schedule, chunks] :
         {std::pair("gpipe", 1), {"1f1b", 1}, {"interleaved", 2}, {"folded", 2}}) {
        const WhatIf result =
            answer(traceOf(balancedOptions(schedule, chunks)), {.ideal = {"all"}});
        EXPECT_EQ(result.predicted, result.replay) << schedule;
        EXPECT_EQ(result.slowdown, 1) << schedule;
    }
}

// Two stages and one microbatch: F0 F1 B1 B0 in a row, one message between each two.
TEST(WhatIf, ScalesWhatAKeyCovers) {
    SyntheticOptions options = balancedOptions("gpipe", 1);
    options.schedule = *schedule::makeSchedule("gpipe", {2, 1, 1, 0});
    options.dp = 1;
    const trace::Trace trace = traceOf(options);
    const auto gained = [&](const char* key) {
        const WhatIf result = answer(trace, {.scale = {{key, 0.5}}});
        return (result.replay - result.predicted).ns;
    };
    EXPECT_EQ(gained("F"), 1'000'000);
    EXPECT_EQ(gained("forward"), 1'000'000);
    EXPECT_EQ(gained("B"), 2'000'000);
    // Of its two messages only the one it receives is waited for on it.
    EXPECT_EQ(gained("stage:1"), 1'500'000 + 50'000);
    EXPECT_EQ(gained("microbatch:0"), 3'000'000 + 100'000);
    EXPECT_EQ(gained("transfer.pp"), 100'000);
    EXPECT_EQ(gained("forward-pp-comm"), 50'000);
    EXPECT_EQ(gained("link:0-1"), 100'000);
    EXPECT_EQ(gained("optimizer"), 100);
}

TEST(WhatIf, ChangesFollowEachOtherAndKeptWorkStays) {
    const trace::Trace trace = traceOf(balancedOptions("1f1b", 1));
    const WhatIf half = answer(trace, {.scale = {{"F", 0.5}}});
    EXPECT_EQ(answer(trace, {.scale = {{"F", 2}, {"F", 0.25}}}).predicted, half.predicted);
    EXPECT_LT(half.predicted, half.replay);
    const WhatIf kept = answer(trace, {.scale = {{"all", 0.5}}, .keep = {"all"}});
    EXPECT_EQ(kept.predicted, kept.replay);
}

TEST(WhatIf, ASlowedStageMadeIdealGivesItsTimeBack) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    options.forward = {{1'000'000}, {1'600'000}};
    const WhatIf slow = answer(traceOf(options), {.ideal = {"stage:1"}});
    EXPECT_GT(slow.slowdown, 1.05);
    EXPECT_NEAR(slow.gain, 1 - 1 / slow.slowdown, 1e-9);
    // The ideal forward is the mean of both stages'; so the faster one loses what the other gains.
    const WhatIf both = answer(traceOf(options), {.ideal = {"F"}});
    options.forward = {{1'300'000}};
    EXPECT_EQ(both.predicted, answer(traceOf(options), {}).replay);
}

// A prediction keeps pauses; they might as well change along with the rest. So the interval holds
// both, and grows with the pauses.
TEST(WhatIf, TheIntervalGrowsWithThePauses) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    options.devices = true;
    const auto width = [&] {
        const WhatIf result = answer(traceOf(options), {.scale = {{"compute", 0.5}}});
        EXPECT_TRUE(result.ci95);
        EXPECT_LE(result.ci95->first, result.predicted);
        EXPECT_GE(result.ci95->second, result.predicted);
        return result.ci95->second - result.ci95->first;
    };
    const base::Duration without = width();
    options.launchDelays.push_back({3, 1, {4'000'000}});
    EXPECT_GT(width(), without + base::Duration{1'000'000});
}

TEST(WhatIf, PausesAreChangedOnlyWhereTheyAreNamed) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    options.devices = true;
    const base::Duration balanced = answer(traceOf(options), {}).replay;
    for (std::int32_t microbatch = 0; microbatch < 4; ++microbatch)
        options.launchDelays.push_back({3, microbatch, {1'000'000}});
    const trace::Trace trace = traceOf(options);
    const WhatIf pauses = answer(trace, {.ideal = {"pause:3"}});
    const auto cost = static_cast<double>((pauses.replay - balanced).ns);
    ASSERT_GT(cost, 1e6);
    EXPECT_NEAR(static_cast<double>(pauses.predicted.ns), static_cast<double>(balanced.ns),
                0.01 * cost);
    EXPECT_EQ(answer(trace, {.ideal = {"rank:3"}}).predicted, pauses.predicted);
    EXPECT_EQ(answer(trace, {.scale = {{"rank:3", 1}}}).predicted, pauses.replay);
    EXPECT_LT(answer(trace, {.scale = {{"pause:3", 0}}}).predicted, pauses.replay);
    EXPECT_EQ(answer(trace, {.ideal = {"rank:3"}, .keep = {"pause:3"}}).predicted, pauses.replay);
}

TEST(WhatIf, OnlyIterationsChosenCount) {
    WhatIfOptions options;
    options.iterations = {{1, 1}};
    const WhatIf result = answer(traceOf(balancedOptions("1f1b", 1)), options);
    ASSERT_EQ(result.iterations.size(), 1U);
    EXPECT_EQ(result.iterations.front().iteration, 1);
    EXPECT_FALSE(result.ci95);
}

TEST(WhatIf, AKeyTheTraceHasNothingOfIsNamedWithTheNearest) {
    const trace::Trace trace = traceOf(balancedOptions("1f1b", 1));
    EXPECT_EQ(refusal(trace, {.ideal = {"stag:1"}}),
              "cannot make stag:1 ideal: no work in the trace matches \"stag:1\"; did you mean stage:1?");
    EXPECT_NE(refusal(trace, {.scale = {{"computer", 2}}}).find("did you mean compute?"),
              std::string::npos);
    EXPECT_NE(refusal(trace, {.keep = {"stage:7"}}).find("did you mean stage:0?"),
              std::string::npos);
    EXPECT_NE(refusal(trace, {.ideal = {"the weather today"}}).find("examples of keys are"),
              std::string::npos);
}

TEST(WhatIf, AFactorIsNeitherNegativeNorHuge) {
    const trace::Trace trace = traceOf(balancedOptions("1f1b", 1));
    for (const double factor : {-0.5, 1001.0, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_NE(refusal(trace, {.scale = {{"F", factor}}}).find("a factor is from 0 to 1000"),
                  std::string::npos);
    }
    EXPECT_EQ(answer(trace, {.scale = {{"all", 0}}}).replayError, 0);
    const std::vector<ScaledKey> often(5, {"F", 1000});
    EXPECT_NE(refusal(trace, {.scale = often}).find("would last for decades"), std::string::npos);
}

TEST(WhatIf, ATraceWithoutTasksCannotBeAsked) {
    const auto nothing = analyseWhatIf(trace::TraceBuilder().build().trace, {});
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, base::ErrorCode::Input);
    EXPECT_NE(nothing.error().message.find("no pipeline tasks"), std::string::npos);
}

}  // namespace
}  // namespace pleat::analysis
