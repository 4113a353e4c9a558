// The simulator against the closed forms of the literature (docs/schedules.md), exactly: p ranks, v
// chunks, M microbatches, t_f and t_b a rank's forward and backward time of one microbatch.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "graph/simulate.h"
#include "schedule/generators.h"
#include "schedule/lower.h"

namespace pleat::graph {
namespace {

struct Case {
    std::string name;
    std::int32_t p, v, m, g;
    std::int64_t forward, backward;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::int64_t backward : {24'000, 48'000}) {
        for (const std::int32_t p : {2, 4, 8}) {
            for (const std::int32_t factor : {1, 2, 4}) {
                const std::int32_t m = factor * p;
                for (const std::int32_t v : {1, 2, 4}) {
                    if (v == 1) all.push_back({"gpipe", p, v, m, 0, 24'000, backward});
                    if (v == 1) all.push_back({"1f1b", p, v, m, 0, 24'000, backward});
                    all.push_back({"folded", p, v, m, 0, 24'000, backward});
                    all.push_back({"interleaved", p, v, m, p, 24'000, backward});
                    if (factor > 1)
                        all.push_back({"interleaved", p, v, m, 2 * p, 24'000, backward});
                }
            }
        }
    }
    return all;
}

Simulation run(const Case& c) {
    const auto made =
        schedule::makeSchedule(c.name, {c.p, c.m, c.v, c.name == "interleaved" ? c.g : 0});
    EXPECT_TRUE(made.ok());
    auto simulated = simulate(*made, {.forward = {c.forward}, .backward = {c.backward}});
    EXPECT_TRUE(simulated.ok());
    return std::move(*simulated);
}

std::string describe(const Case& c) {
    return c.name + " p=" + std::to_string(c.p) + " v=" + std::to_string(c.v) +
           " M=" + std::to_string(c.m) + " g=" + std::to_string(c.g) +
           " t_b=" + std::to_string(c.backward);
}

// bubble / ideal = (p-1)/(vM) for all four, (p-1)/M where v = 1; so idle per rank is
// (p-1)(t_f+t_b)/v.
TEST(ClosedForms, BubbleEqualsPMinusOneOverVM) {
    for (const Case& c : cases()) {
        const Simulation simulation = run(c);
        const std::int64_t ideal = c.m * (c.forward + c.backward);
        EXPECT_EQ(simulation.makespan.ns, ideal + (c.p - 1) * (c.forward + c.backward) / c.v)
            << describe(c);
        EXPECT_DOUBLE_EQ(simulation.bubbleFractionIdeal, (c.p - 1.0) / (c.v * c.m)) << describe(c);
        EXPECT_DOUBLE_EQ(simulation.bubbleFractionTotal, (c.p - 1.0) / (c.v * c.m + c.p - 1.0))
            << describe(c);
        for (const SimulatedRank& rank : simulation.ranks) EXPECT_EQ(rank.busy.ns, ideal);
    }
}

// In chunks alive: M v for gpipe and folded, min(p-r, M) for 1f1b, (v-1)g + 2(p-1-r) + 1 for
// interleaved, which cannot exceed the M v chunk activations there are (it would at v = 1 with M <
// 2p - 1, where the warm-up is all there is).
std::int64_t expectedPeak(const Case& c, std::int32_t rank) {
    if (c.name == "1f1b") return std::min(c.p - rank, c.m);
    if (c.name == "interleaved")
        return std::min((c.v - 1) * c.g + 2 * (c.p - 1 - rank) + 1, c.v * c.m);
    return c.v * c.m;
}

TEST(ClosedForms, PeakActivations) {
    for (const Case& c : cases()) {
        const Simulation simulation = run(c);
        for (std::int32_t rank = 0; rank < c.p; ++rank) {
            EXPECT_EQ(simulation.ranks[static_cast<std::size_t>(rank)].peakActivations,
                      static_cast<double>(expectedPeak(c, rank)) / c.v)
                << describe(c) << " rank " << rank;
        }
    }
}

// Chunk c's sync can hide under c·M·t_b/v when folded, c·g·t_b/v when interleaved, nothing where v
// = 1.
TEST(ClosedForms, SyncWindows) {
    for (const Case& c : cases()) {
        const Simulation simulation = run(c);
        const std::int64_t microbatches = c.name == "interleaved" ? c.g : c.m;
        for (const SimulatedRank& rank : simulation.ranks) {
            ASSERT_EQ(rank.syncWindow.size(), static_cast<std::size_t>(c.v));
            for (std::int32_t chunk = 0; chunk < c.v; ++chunk) {
                EXPECT_EQ(rank.syncWindow[static_cast<std::size_t>(chunk)].ns,
                          chunk * microbatches * c.backward / c.v)
                    << describe(c) << " chunk " << chunk;
            }
        }
    }
}

// A sync that fits its window costs only chunk 0's share; two ranks, v = 2, sync 2 × 10 µs.
TEST(ClosedForms, AFoldedScheduleExposesOnlyTheFirstChunksSync) {
    const Case c{"folded", 2, 2, 4, 0, 24'000, 48'000};
    const auto made = schedule::makeSchedule(c.name, {c.p, c.m, c.v, 0});
    const auto simulated =
        simulate(*made, {.forward = {c.forward}, .backward = {c.backward}, .sync = {20'000}});
    ASSERT_TRUE(simulated.ok());
    EXPECT_EQ(simulated->makespan.ns, run(c).makespan.ns + 10'000);
}

// One message each way between two ranks of a one-microbatch pipeline: 2 (t_f + t_b) + 2 hops.
TEST(ClosedForms, MessagesAddTheirTimeOncePerHop) {
    const auto made = schedule::makeSchedule("gpipe", {.ranks = 2, .microbatches = 1});
    const auto simulated = simulate(*made, {.forward = {10}, .backward = {20}, .message = {3}});
    ASSERT_TRUE(simulated.ok());
    EXPECT_EQ(simulated->makespan.ns, 66);
}

// A file that came with its messages takes as long as the compute it was lowered from.
TEST(ClosedForms, WrittenOutMessagesChangeNothing) {
    const auto made = schedule::makeSchedule("interleaved", {4, 8, 2, 0});
    const auto lowered = schedule::lower(*made);
    ASSERT_TRUE(lowered.ok());
    const CostModel costs{.forward = {1000}, .backward = {2000}, .message = {70}, .sync = {500}};
    const auto bare = simulate(*made, costs), written = simulate(*lowered, costs);
    ASSERT_TRUE(bare.ok() && written.ok());
    EXPECT_EQ(written->makespan, bare->makespan);
    EXPECT_EQ(written->graph.nodes().size(), bare->graph.nodes().size());
    for (std::size_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(written->ranks[rank].syncWindow, bare->ranks[rank].syncWindow);
        EXPECT_EQ(written->ranks[rank].peakActivations, bare->ranks[rank].peakActivations);
    }
}

TEST(ClosedForms, AnIndivisibleShareStillSumsToTheWhole) {
    const auto made =
        schedule::makeSchedule("folded", {.ranks = 2, .microbatches = 3, .chunks = 3});
    const auto simulated = simulate(*made, {.forward = {10}, .backward = {20}});
    ASSERT_TRUE(simulated.ok());
    for (const SimulatedRank& rank : simulated->ranks) EXPECT_EQ(rank.busy.ns, 3 * 30);
}

// 64 ranks x a makespan of 1.1e18 ns are more than 64 bits hold; the closed form does not depend on
// the unit.
TEST(ClosedForms, SumsOverRanksDoNotOverflow) {
    const auto made = schedule::makeSchedule("1f1b", {64, 128, 1, 0});
    ASSERT_TRUE(made.ok());
    constexpr std::int64_t kLong = 2'000'000'000'000'000;
    const auto simulated = simulate(*made, {.forward = {kLong}, .backward = {2 * kLong}});
    ASSERT_TRUE(simulated.ok());
    EXPECT_DOUBLE_EQ(simulated->bubbleFractionIdeal, 63.0 / 128);
    EXPECT_DOUBLE_EQ(simulated->bubbleFractionTotal, 63.0 / (128 + 63));
}

}  // namespace
}  // namespace pleat::graph
