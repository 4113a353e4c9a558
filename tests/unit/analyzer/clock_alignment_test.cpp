// Clocks related by messages alone: lines through made limits, and whole runs whose ranks' clocks
// were moved by known amounts.
#include "annotate/clock_alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "annotate/annotate.h"
#include "annotate/clock_fit.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"

namespace pleat::annotate {
namespace {

using base::Duration;
using trace::RankId;

TEST(ClockFit, MessagesBothWaysLeaveTheMiddle) {
    // It arrived at own 100, sent at 5 100 there: at least 5 000. Sent at own 200, there by 5 240.
    const auto line =
        fitMessages({{100, 5'000, true}, {200, 5'040, false}, {300, 4'000, true}}, 100, 300);
    ASSERT_TRUE(line);
    EXPECT_DOUBLE_EQ(line->offset, 5'020);
    EXPECT_NEAR(line->worst, 20, 0.2);  // the clocks may drift a little meanwhile
    EXPECT_EQ(line->anchors, 3U);
}

TEST(ClockFit, NothingIsAddedThatMessagesDoNotAskFor) {
    const auto line = fitMessages({{100, -30, true}, {200, 70, false}}, 100, 200);
    ASSERT_TRUE(line);
    EXPECT_DOUBLE_EQ(line->offset, 0);
    EXPECT_NEAR(line->worst, 70, 0.1);
}

TEST(ClockFit, MessagesOneWayBoundNothing) {
    EXPECT_FALSE(fitMessages({{100, 5'000, true}, {200, 5'100, true}}, 100, 200));
}

TEST(ClockFit, MessagesThatContradictEveryLineRelateNothing) {
    std::vector<ClockLimit> limits;
    for (int i = 0; i < 100; ++i) {
        limits.push_back({1'000.0 * i, i % 2 == 0 ? 900.0 : 0.0, true});
        limits.push_back({1'000.0 * i + 500, 400, false});
    }
    EXPECT_FALSE(fitMessages(limits, 0, 1e5));
}

TEST(ClockFit, ADriftIsFoundWhereNoOffsetFits) {
    std::vector<ClockLimit> limits;
    for (int i = 0; i < 400; ++i) {
        const double time = 1e6 * i, right = 2'000 + 60e-6 * time;
        limits.push_back({time, right - 50, true});
        limits.push_back({time + 1'000, right + 50, false});
    }
    const auto line = fitMessages(limits, 0, 4e8);
    ASSERT_TRUE(line);
    EXPECT_NEAR(line->drift, 60e-6, 1e-6);
    EXPECT_LE(line->worst, 150);
    for (const ClockLimit& limit : limits) {
        const double said = line->offset + line->drift * (limit.time - line->origin);
        EXPECT_LE(std::abs(said - (2'000 + 60e-6 * limit.time)), line->worst + 0.1);
    }
}

// The bound holds for every line that messages allow, and at any time that is asked for: compared
// with the corners of that set, found by trying every pair of limits.
TEST(ClockFit, TheBoundIsThatOfTheWorstLineAllowed) {
    std::mt19937 random(4);
    const auto pick = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    for (int trial = 0; trial < 300; ++trial) {
        const double offset = pick(-1e6, 1e6), drift = trial % 3 == 0 ? 0 : pick(-400e-6, 400e-6);
        std::vector<ClockLimit> limits;
        for (int i = 0; i < 12; ++i) {
            const double time = pick(0, 1e8);
            const bool atLeast = i % 2 == 0;
            limits.push_back(
                {time, offset + drift * time + (atLeast ? -1 : 1) * pick(0, 5'000), atLeast});
        }
        const double first = -2e7, last = 1.5e8;
        const auto line = fitMessages(limits, first, last);
        ASSERT_TRUE(line) << trial;
        const auto said = [&](double time) {
            return line->offset + line->drift * (time - line->origin);
        };
        double worst = 0;
        const auto tryLine = [&](double slope, double through, double at) {
            if (std::abs(slope) > 500e-6 + 1e-15) return;
            const auto value = [&](double time) { return through + slope * (time - at); };
            for (const ClockLimit& limit : limits) {
                const double above = value(limit.time) - limit.difference;
                if (limit.atLeast ? above < -1e-3 : above > 1e-3) return;
            }
            for (const double time : {first, last})
                worst = std::max(worst, std::abs(value(time) - said(time)));
        };
        for (const ClockLimit& a : limits) {
            for (const double slope : {-500e-6, 0.0, 500e-6}) tryLine(slope, a.difference, a.time);
            for (const ClockLimit& b : limits) {
                if (a.time != b.time)
                    tryLine((b.difference - a.difference) / (b.time - a.time), a.difference,
                            a.time);
            }
        }
        EXPECT_NEAR(line->worst, worst, 1e-3 * worst + 1) << trial;
    }
}

// No clock runs twice as fast as another.
TEST(ClockFit, WhatNoClockDoesIsNoDrift) {
    std::vector<ClockAnchor> anchors;
    for (int i = 0; i < 20; ++i) anchors.push_back({1e9 * i, 1e9 * i});
    const ClockLine line = fitMoments(anchors);
    EXPECT_EQ(line.drift, 0);
    EXPECT_GE(line.worst, 9e9);
}

class MovedClocks : public ::testing::TestWithParam<const char*> {};

// A pipeline of four without data parallelism has nothing but messages between its ranks.
TEST_P(MovedClocks, ComeBackWithinTheirBound) {
    const auto schedule = schedule::makeSchedule(GetParam(), {4, 8, 1, 0});
    ASSERT_TRUE(schedule);
    testing::SyntheticOptions options;
    options.schedule = *schedule;
    options.iterations = 6;
    options.forward = {Duration{40'000}};
    options.backward = {Duration{80'000}};
    options.link = Duration{3'000};
    const trace::Trace right = testing::traceOf(testing::makeSyntheticRun(options));
    const std::int64_t moved[] = {0, 11'560'000'000, -2'500'000, 40'000};
    trace::Trace wrong = trace::retimed(
        testing::traceOf(testing::makeSyntheticRun(options)),
        [&](RankId rank, base::TraceTime time) { return time + Duration{moved[rank.index()]}; },
        {});
    base::IdVector<trace::RankTag, trace::Trace::Clock> apart;
    for (std::int32_t i = 0; i < 4; ++i) apart.push({i, {}});
    wrong = std::move(wrong).withClocks(apart);
    const auto alignment = alignClocks(annotate(wrong).value());
    ASSERT_TRUE(alignment);
    const std::int64_t reference = moved[alignment->reference.index()];
    for (std::size_t i = 0; i < 4; ++i) {
        const ClockCorrection& correction = alignment->of[RankId::at(i)];
        ASSERT_NE(correction.basis, ClockCorrection::Basis::Nothing) << i;
        const std::int64_t error = moved[i] + correction.offset.ns - reference;
        EXPECT_LE(std::abs(error), correction.bound.ns) << i;
        EXPECT_LE(correction.bound.ns, 3 * 3'000) << i;  // a link's time a step, at most
        EXPECT_EQ(correction.drift, 0) << i;
    }
    const trace::Trace aligned =
        annotate(withCorrectedClocks(std::move(wrong), *alignment)).value();
    EXPECT_EQ(aligned.diagnostics().find("clock_disagrees"), nullptr);
    EXPECT_EQ(aligned.annotations().tasks.size(), annotate(right)->annotations().tasks.size());
}

INSTANTIATE_TEST_SUITE_P(Schedules, MovedClocks, ::testing::Values("gpipe", "1f1b"),
                         [](const auto& parameter) {
                             return "Of_" + std::string(parameter.param);
                         });

}  // namespace
}  // namespace pleat::annotate
