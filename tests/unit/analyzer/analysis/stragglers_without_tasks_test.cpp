// Stragglers and what-if where nothing names tasks: ranks with kernels and an all-reduce that
// relates them, small enough for paper. Times in microseconds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "analysis/what_if.h"
#include "annotate/annotate.h"
#include "graph/work_graph.h"
#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace pleat::analysis {
namespace {

namespace categories = trace::categories;

// What one rank's device does in every iteration, from its begin on, up to the all-reduce.
struct RankWork {
    std::int64_t first = 0;   // of its gemm
    std::int64_t pause = 0;   // then nothing
    std::int64_t second = 0;  // the rest of its gemm
};

// Each rank computes, joins an all-reduce that moves data for 10 us once the last has joined, and
// runs an optimizer kernel of 20 us. An iteration is 400 us long.
class SmallRun {
  public:
    enum class Processes { EachRank, OneForAll };
    explicit SmallRun(const std::vector<RankWork>& ranks, int iterations = 2,
                      Processes processes = Processes::EachRank) {
        const bool one = processes == Processes::OneForAll;
        std::int64_t ready = 0;
        for (const RankWork& rank : ranks)
            ready = std::max(ready, rank.first + rank.pause + rank.second);
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            trace::Rank rank;
            rank.number = one ? 0 : static_cast<std::int32_t>(i);
            rank.pid = one ? 7 : 0;
            rank.device = one ? "cuda:" + std::to_string(i) : std::string();
            rank.oneOfSeveralDevices = one;
            const trace::RankId id = m_builder.addRank(rank);
            const auto host = m_builder.addLane({id, trace::LaneKind::HostThread, 1, ""});
            const auto compute = m_builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""});
            const auto network = m_builder.addLane({id, trace::LaneKind::DeviceStream, 20, ""});
            for (int step = 0; step < iterations; ++step) {
                const std::int64_t at = step * 400;
                if (!one || i == 0) {
                    add(host, categories::kAnnotation, "ProfilerStep#" + std::to_string(step), at,
                        at + 400);
                }
                const std::int64_t half = at + ranks[i].first;
                const std::int64_t joins = half + ranks[i].pause + ranks[i].second;
                add(compute, categories::kKernel, "gemm", at, half);
                if (ranks[i].second > 0)
                    add(compute, categories::kKernel, "gemm", half + ranks[i].pause, joins);
                add(network, categories::kKernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", joins,
                    at + ready + 10, groupOf(ranks.size()));
                add(compute, categories::kKernel, "adam", at + ready + 10, at + ready + 30);
            }
        }
    }

    [[nodiscard]] trace::Trace build() {
        return annotate::annotate(std::move(m_builder).build().trace).value();
    }

  private:
    static std::string groupOf(std::size_t ranks) {
        std::string members;
        for (std::size_t i = 0; i < ranks; ++i) members += (i == 0 ? "" : ", ") + std::to_string(i);
        return R"({"Collective name":"allreduce","In msg nelems":1000,"dtype":"Float",)"
               R"("Process Group Name":"0","Process Group Ranks":"[)" +
               members + R"(]","Group size":)" + std::to_string(ranks) + "}";
    }

    void add(trace::LaneId lane, std::string_view domain, const std::string& name,
             std::int64_t begin, std::int64_t end, const std::string& arguments = {}) {
        m_builder.addEvent({lane,
                            m_builder.intern(name),
                            m_builder.intern(domain),
                            trace::EventKind::Range,
                            trace::EventFlag::None,
                            {{begin * 1000}, {end * 1000}}},
                           arguments);
    }

    trace::TraceBuilder m_builder;
};

void expectFirst(const trace::Trace& trace, const std::string& key, double slowdown,
                 std::int64_t gainMicroseconds) {
    const auto run = analyseRun(trace, {});
    ASSERT_TRUE(run);
    ASSERT_FALSE(run->stragglers.empty());
    const Straggler& worst = run->stragglers.front();
    EXPECT_EQ(toString(worst.suspect), key);
    EXPECT_NEAR(worst.slowdown, slowdown, 1e-9);
    EXPECT_EQ(worst.gain.ns, gainMicroseconds * 1000);
    const auto answer = analyseWhatIf(trace, {.ideal = {key}});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->replay - answer->predicted, worst.gain) << "what-if and the report agree";
    for (const Straggler& one : run->stragglers)
        EXPECT_NE(toString(one.suspect), "rank:0") << "it only waited";
}

TEST(StragglersWithoutTasks, AGraphOfWorkHasNoWaits) {
    const trace::Trace trace = SmallRun({{100}, {150}}, 1).build();
    ASSERT_EQ(trace.annotations().matches.size(), 1U);
    const graph::RunIndex run(trace);
    const auto graphs = graph::workGraphs(run, run.windows());
    ASSERT_EQ(graphs.size(), 1U);
    ASSERT_TRUE(graphs[0]);
    std::vector<std::int64_t> work(2), moving(2);
    for (const graph::Node& node : graphs[0]->graph.nodes()) {
        EXPECT_EQ(node.delay.ns, 0);
        if (node.kind == graph::NodeKind::Work)
            work[static_cast<std::size_t>(node.rank)] += node.duration.ns;
        if (node.kind == graph::NodeKind::Transfer)
            moving[static_cast<std::size_t>(node.rank)] += node.duration.ns;
    }
    EXPECT_EQ(work, (std::vector<std::int64_t>{120'000, 170'000}));
    EXPECT_EQ(moving, (std::vector<std::int64_t>{10'000, 10'000}));
    EXPECT_EQ(graph::earliestTimes(graphs[0]->graph).end.ns, 180'000);
}

TEST(StragglersWithoutTasks, ARankWithSlowKernelsIsNamed) {
    expectFirst(SmallRun({{100}, {100}, {150}, {100}}).build(), "rank:2", 180.0 / 130, 50);
}

TEST(StragglersWithoutTasks, ARankThatPausesIsNamedByItsPauses) {
    expectFirst(SmallRun({{50, 0, 50}, {50, 60, 50}, {50, 0, 50}}).build(), "pause:1", 190.0 / 130,
                60);
}

TEST(StragglersWithoutTasks, NoneIsSaidOfRanksThatWereCompared) {
    const auto run = analyseRun(SmallRun({{100}, {100}, {100}}).build(), {});
    ASSERT_TRUE(run);
    EXPECT_TRUE(run->stragglers.empty());
    EXPECT_TRUE(run->stragglerSearch.missing.empty());
    ASSERT_TRUE(run->replay) << "what stragglers rest on is shown";
    EXPECT_EQ(run->replay->errorFraction, 0);
    bool comparedRanks = false;
    for (const ComparedKind& kind : run->stragglerSearch.compared)
        comparedRanks |= kind.kind == SuspectKind::Rank && kind.count == 3;
    EXPECT_TRUE(comparedRanks);
}

TEST(StragglersWithoutTasks, OneRankAloneIsNotCompared) {
    const auto run = analyseRun(SmallRun(std::vector<RankWork>{{100}}).build(), {});
    ASSERT_TRUE(run);
    EXPECT_TRUE(run->stragglers.empty());
    EXPECT_TRUE(run->stragglerSearch.compared.empty());
    EXPECT_NE(run->stragglerSearch.missing.find("only one rank"), std::string::npos);
}

TEST(StragglersWithoutTasks, OneDeviceOfAProcessIsNamed) {
    const trace::Trace trace =
        SmallRun({{100}, {100}, {200}, {100}}, 2, SmallRun::Processes::OneForAll).build();
    const auto run = analyseRun(trace, {});
    ASSERT_TRUE(run);
    ASSERT_FALSE(run->stragglers.empty());
    EXPECT_EQ(toString(run->stragglers.front().suspect), "rank:0/cuda:2");
    EXPECT_NEAR(static_cast<double>(run->stragglers.front().gain.ns), 100e3, 1e3);
    const auto ideal = analyseWhatIf(trace, {.ideal = {"rank:0/cuda:2"}});
    ASSERT_TRUE(ideal) << ideal.error().message;
    EXPECT_EQ((ideal->replay - ideal->predicted).ns, run->stragglers.front().gain.ns);
}

}  // namespace
}  // namespace pleat::analysis
