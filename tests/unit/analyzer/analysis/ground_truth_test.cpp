// Made runs of every schedule with chosen stage times, link times, stragglers, launch delays and
// skewed clocks: what was put in comes back, exactly where it is about times, within the stated
// bound where it is about clocks. 250 random runs, on hosts and on devices in turn.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "analysis/critical_path.h"
#include "analysis/run_analysis.h"
#include "analysis/what_if.h"
#include "annotate/annotate.h"
#include "annotate/clock_alignment.h"
#include "graph/measured_graph.h"
#include "schedule/generators.h"
#include "support/naive_accounting.h"
#include "support/synthetic_run.h"

namespace pleat::analysis {
namespace {

using base::Duration;
using base::TraceTime;
using graph::NodeId;
using testing::SyntheticOptions;
using testing::SyntheticRun;

class Random {
  public:
    explicit Random(std::uint32_t seed) : m_engine(seed) {}
    std::int32_t between(std::int32_t low, std::int32_t high) {
        return std::uniform_int_distribution<std::int32_t>(low, high)(m_engine);
    }
    Duration time(std::int32_t low, std::int32_t high) { return {between(low, high)}; }

  private:
    std::mt19937 m_engine;
};

SyntheticOptions randomRun(Random& random, int trial) {
    const auto names = schedule::scheduleNames();
    const std::string_view name = names[static_cast<std::size_t>(trial) % names.size()];
    const bool hasChunks = name == "interleaved" || name == "folded";
    schedule::GeneratorOptions size;
    size.ranks = random.between(1, 4);
    size.chunks = hasChunks ? random.between(1, 3) : 1;
    size.microbatches = size.ranks * random.between(1, 3);
    SyntheticOptions options;
    options.schedule = schedule::makeSchedule(name, size).value();
    options.dp = random.between(1, 2);
    for (std::int32_t stage = 0; stage < size.ranks * size.chunks; ++stage) {
        options.forward.push_back(random.time(20, 1'000));
        options.backward.push_back(random.time(20, 2'000));
    }
    const std::int32_t ranks = options.dp * size.ranks;
    options.extra = {{random.between(0, ranks - 1), random.between(0, size.microbatches - 1),
                      random.time(0, 5'000)}};
    options.link = random.time(0, 400);
    options.slowLinks = {
        {random.between(0, ranks - 1), random.between(0, ranks - 1), random.time(0, 900)}};
    options.sync = random.time(0, 4'000);
    options.data = random.time(0, 300);
    options.optimizer = random.time(1, 900);
    options.skew = random.time(0, 60);
    options.devices = trial % 2 == 1;
    // Not of microbatch 0, so that rank 0 always begins the iteration.
    if (options.devices && size.microbatches > 1) {
        options.launchDelays = {{random.between(0, ranks - 1),
                                 random.between(1, size.microbatches - 1), random.time(1, 3'000)}};
    }
    return options;
}

std::map<std::string, std::int64_t> named(const CauseDurations& causes) {
    std::map<std::string, std::int64_t> result;
    for (std::size_t i = 0; i < kBubbleCauseCount; ++i) {
        const auto cause = static_cast<BubbleCause>(i);
        if (causes[cause].ns != 0) result[std::string(toString(cause))] = causes[cause].ns;
    }
    return result;
}

trace::Trace annotated(const SyntheticRun& run) {
    return annotate::annotate(testing::traceOf(run, 7)).value();
}

// Calls test(options, run) for every random run.
template <class Test>
void forEachRun(Test test) {
    Random random(20'230'534);
    for (int trial = 0; trial < 250; ++trial) {
        const SyntheticOptions options = randomRun(random, trial);
        SCOPED_TRACE(fmt::format("trial {}: {} of {} ranks, {} chunks, {} microbatches, dp {}{}",
                                 trial, options.schedule.name, options.schedule.ranks(),
                                 options.schedule.placement.stages() / options.schedule.ranks(),
                                 options.schedule.microbatches, options.dp,
                                 options.devices ? ", devices" : ""));
        test(options, testing::makeSyntheticRun(options));
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(GroundTruth, AccountingAndCausesAreThoseOfThePlainestCount) {
    std::map<std::string, int> runsWith;
    forEachRun([&](const SyntheticOptions& options, const SyntheticRun& run) {
        const testing::NaiveAccount truth = testing::naiveAccount(options, run);
        const RunAnalysis analysis = analyseRun(annotated(run), {}).value();
        ASSERT_EQ(analysis.iterations.mean, truth.window.length());
        ASSERT_EQ(analysis.ranks.size(), truth.ranks.size());
        for (const RankSummary& rank : analysis.ranks) {
            SCOPED_TRACE(fmt::format("rank {}", rank.number));
            const testing::NaiveRank& expected = truth.ranks[static_cast<std::size_t>(rank.number)];
            EXPECT_EQ(rank.time[TimePart::Compute].ns, expected.compute_ns);
            EXPECT_EQ(rank.time[TimePart::Moving].ns, expected.moving_ns);
            EXPECT_EQ(rank.time[TimePart::Waiting].ns, expected.waiting_ns);
            EXPECT_EQ(rank.time[TimePart::Bubble].ns, expected.bubble_ns);
            EXPECT_EQ(rank.time.total(), truth.window.length());
            ASSERT_EQ(named(rank.time.causes), expected.causes);
            for (const auto& [cause, ns] : expected.causes) ++runsWith[cause];
        }
    });
    // The runs hold every cause there can be without device work that was not recorded.
    for (const char* cause :
         {"data_loading", "fill", "drain", "imbalance", "late_peer", "replica_imbalance",
          "gradient_sync", "p2p_latency", "host_late", "unknown"})
        EXPECT_GT(runsWith[cause], 20) << cause;
}

// Is there an edge, or one over a moment of readiness, which takes no time and is no piece?
bool follows(const graph::TaskGraph& graph, NodeId before, NodeId after) {
    for (const NodeId id : graph.predecessors(after)) {
        if (id == before) return true;
        if (graph.nodes()[id].kind == graph::NodeKind::Ready && follows(graph, before, id))
            return true;
        if (graph.nodes()[id].duration.ns == 0 && graph.nodes()[id].delay.ns == 0 &&
            follows(graph, before, id))
            return true;
    }
    return false;
}

TEST(GroundTruth, TheCriticalPathIsAPathAndWaitsOnlyForDelaysThatWerePutIn) {
    forEachRun([&](const SyntheticOptions& options, const SyntheticRun& run) {
        const trace::Trace trace = annotated(run);
        const graph::IterationWindow window = graph::iterationWindows(trace).at(0);
        const graph::TaskGraph graph = graph::measuredGraph(trace, window).value();
        const std::vector<PathPiece> path = measuredCriticalPath(graph, window.window);
        ASSERT_FALSE(path.empty());
        EXPECT_EQ(path.front().span.begin, window.window.begin);
        EXPECT_EQ(path.back().span.end, window.window.end);
        const bool delayed = options.skew.ns > 0 || !options.launchDelays.empty();
        Duration sum;
        for (std::size_t i = 0; i < path.size(); ++i) {
            const PathPiece& piece = path[i];
            EXPECT_GT(piece.span.length().ns, 0);
            EXPECT_TRUE(delayed || !piece.pause) << "piece " << i;
            sum += piece.span.length();
            if (i == 0) continue;
            EXPECT_EQ(piece.span.begin, path[i - 1].span.end);
            if (piece.pause || path[i - 1].pause) continue;
            EXPECT_TRUE(follows(graph, path[i - 1].node, piece.node)) << "piece " << i;
        }
        EXPECT_EQ(sum, window.window.length());
    });
}

// When the last node ends with other durations for one of them.
TraceTime endWith(const graph::TaskGraph& graph, const graph::IterationWindow& window, NodeId node,
                  Duration duration) {
    std::vector<Duration> durations;
    for (const graph::Node& each : graph.nodes()) durations.push_back(each.duration);
    durations[node.index()] = duration;
    return graph::earliestTimes(graph, window.window.begin, durations).end;
}

TEST(GroundTruth, SlackIsExactlyWhatATaskMayTakeLonger) {
    Random random(5);
    int withSlack = 0, critical = 0;
    forEachRun([&](const SyntheticOptions&, const SyntheticRun& run) {
        const trace::Trace trace = annotated(run);
        const graph::IterationWindow window = graph::iterationWindows(trace).at(0);
        const graph::TaskGraph graph = graph::measuredGraph(trace, window).value();
        const graph::Times times = graph::earliestTimes(graph, window.window.begin);
        const auto slack = graph::slack(graph, times);
        for (int i = 0; i < 12; ++i) {
            const NodeId node = NodeId::at(static_cast<std::size_t>(
                random.between(0, static_cast<int>(graph.nodes().size()) - 1)));
            const Duration duration = graph.nodes()[node].duration, spare = slack[node];
            ASSERT_GE(spare.ns, 0);
            EXPECT_EQ(endWith(graph, window, node, duration + spare), times.end);
            EXPECT_EQ(endWith(graph, window, node, duration + spare + Duration{1}),
                      times.end + Duration{1});
            // What is not critical may as well not be there.
            if (spare.ns > 0) {
                EXPECT_EQ(endWith(graph, window, node, {}), times.end);
            }
            ++(spare.ns > 0 ? withSlack : critical);
        }
    });
    EXPECT_GT(withSlack, 500);
    EXPECT_GT(critical, 200);
}

// What is predicted of another link is what the run takes that has such a link, where ranks wait
// for their sends at the end as well as where they do not.
TEST(GroundTruth, APredictionIsTheRunItSpeaksOf) {
    Random random(23);
    for (int trial = 0; trial < 120; ++trial) {
        SyntheticOptions options = randomRun(random, trial);
        options.skew = {};
        options.launchDelays.clear();
        options.slowLinks.clear();
        options.devices = false;
        options.link.ns = 2 * (options.link.ns + 200);
        options.waitForSends = trial % 2 == 0;
        if (options.schedule.ranks() == 1) continue;
        SCOPED_TRACE(fmt::format("trial {}: {}, {} ranks, dp {}", trial, options.schedule.name,
                                 options.schedule.ranks(), options.dp));
        const trace::Trace trace = annotated(testing::makeSyntheticRun(options));
        for (const double factor : {0.0, 0.5}) {
            SyntheticOptions other = options;
            other.link.ns = factor == 0 ? 0 : options.link.ns / 2;
            const trace::Trace changed = annotated(testing::makeSyntheticRun(other));
            const auto answer = analyseWhatIf(trace, {.scale = {{"transfer.pp", factor}}});
            ASSERT_TRUE(answer) << answer.error().message;
            EXPECT_EQ(answer->replay, graph::iterationWindows(trace).at(0).window.length());
            EXPECT_EQ(answer->predicted, graph::iterationWindows(changed).at(0).window.length())
                << factor;
        }
    }
}

// Clocks that are seconds apart and drift come back to within the bound that is stated.
TEST(GroundTruth, SkewedClocksComeBackWithinTheirBound) {
    Random random(11);
    int related = 0, drifting = 0;
    for (int trial = 0; trial < 60; ++trial) {
        SyntheticOptions options = randomRun(random, trial);
        if (options.schedule.ranks() * options.dp == 1) continue;
        SCOPED_TRACE(fmt::format("trial {}: {}, {} ranks, dp {}", trial, options.schedule.name,
                                 options.schedule.ranks(), options.dp));
        options.iterations = 8;
        for (auto* costs : {&options.forward, &options.backward}) {
            for (Duration& cost : *costs) cost.ns *= 1'000;
        }
        const SyntheticRun run = testing::makeSyntheticRun(options);
        std::vector<std::int64_t> offset_ns;
        std::vector<double> drift;
        for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
            offset_ns.push_back(1'000'000LL * random.between(-5'000, 20'000));
            drift.push_back(trial % 3 == 0 ? 1e-6 * random.between(-40, 40) : 0);
        }
        const auto read = [&](trace::RankId rank, TraceTime time) {
            const auto moved = static_cast<std::int64_t>(
                std::llround(drift[rank.index()] * static_cast<double>(time.ns)));
            return time + Duration{offset_ns[rank.index()] + moved};
        };
        const trace::Trace right = testing::traceOf(run);
        // "retimed" brings the earliest event to 0; all ranks by the same amount.
        trace::Trace wrong = trace::retimed(testing::traceOf(run), read, {});
        base::IdVector<trace::RankTag, trace::Trace::Clock> apart;
        for (std::int32_t rank = 0; rank < run.ranks; ++rank) apart.push({rank, {}});
        wrong = std::move(wrong).withClocks(apart);
        const auto alignment = annotate::alignClocks(annotate::annotate(wrong).value());
        ASSERT_TRUE(alignment);
        const auto backAt = [&](trace::RankId rank, trace::EventId event) {
            return alignment->corrected(rank, wrong.event(event).span.begin);
        };
        // The reference's own error is that of its clock: the others are put on it.
        const auto lanesOf = [&](trace::RankId rank) {
            std::vector<trace::EventId> ends;
            for (std::size_t l = 0; l < wrong.lanes().size(); ++l) {
                const auto lane = trace::LaneId::at(l);
                const auto events = wrong.eventsOf(lane);
                if (wrong.lanes()[lane].rank != rank || events.first == events.last) continue;
                ends.push_back(events.first);
                ends.push_back(trace::EventId(events.last.index() - 1));
            }
            return ends;
        };
        const trace::RankId reference = alignment->reference;
        const Duration shift = backAt(reference, lanesOf(reference).front()) -
                               read(reference, right.event(lanesOf(reference).front()).span.begin);
        for (std::size_t r = 0; r < wrong.ranks().size(); ++r) {
            const auto rank = trace::RankId::at(r);
            const annotate::ClockCorrection& correction = alignment->of[rank];
            ASSERT_TRUE(rank == reference || correction.anchors > 0U) << "rank " << r;
            for (const trace::EventId event : lanesOf(rank)) {
                // What the reference's clock said at that moment.
                const TraceTime truth = read(reference, right.event(event).span.begin) + shift;
                const std::int64_t error = (backAt(rank, event) - truth).ns;
                EXPECT_LE(std::abs(error), correction.bound.ns)
                    << "rank " << r << " event " << wrong.name(event);
            }
            ++related;
            drifting += correction.drift != 0 ? 1 : 0;
        }
    }
    EXPECT_GT(related, 100);
    EXPECT_GT(drifting, 20);
}

SyntheticOptions balanced(std::string_view name, std::int32_t chunks) {
    SyntheticOptions options;
    options.schedule = schedule::makeSchedule(name, {4, 8, chunks, 0}).value();
    options.forward = {Duration{6'000}};
    options.backward = {Duration{12'000}};
    options.link = options.sync = options.data = {};
    return options;
}

// One imperfection in a run that is otherwise ideal is found as itself and as nothing else.
TEST(GroundTruth, OneLaunchDelayIsHostLateOnItsRank) {
    SyntheticOptions options = balanced("gpipe", 1);
    options.devices = true;
    options.launchDelays = {{3, 5, Duration{700}}};  // the last stage: its forward, then backward
    const RunAnalysis analysis =
        analyseRun(annotated(testing::makeSyntheticRun(options)), {}).value();
    for (const RankSummary& rank : analysis.ranks) {
        const std::int64_t late = rank.number == 3 ? 2 * 700 : 0;
        EXPECT_EQ(rank.time.causes[BubbleCause::HostLate].ns, late) << rank.number;
    }
}

TEST(GroundTruth, OneSlowTaskMakesOthersWaitForALatePeer) {
    for (const auto& [name, chunks] : {std::pair("gpipe", 1), std::pair("1f1b", 1),
                                       std::pair("interleaved", 2), std::pair("folded", 2)}) {
        SCOPED_TRACE(name);
        SyntheticOptions options = balanced(name, chunks);
        options.extra = {{1, 3, Duration{9'000}}};
        const RunAnalysis analysis =
            analyseRun(annotated(testing::makeSyntheticRun(options)), {}).value();
        for (const RankSummary& rank : analysis.ranks) {
            EXPECT_EQ(rank.time.causes[BubbleCause::Unknown].ns, 0) << rank.number;
            EXPECT_EQ(rank.time.causes[BubbleCause::MessageLatency].ns, 0) << rank.number;
            EXPECT_EQ(rank.time.causes[BubbleCause::LatePeer].ns > 0, rank.number != 1)
                << rank.number;
        }
        ASSERT_FALSE(analysis.stragglers.empty());
        EXPECT_GT(analysis.stragglers.front().slowdown, 1.0);
    }
}

}  // namespace
}  // namespace pleat::analysis
