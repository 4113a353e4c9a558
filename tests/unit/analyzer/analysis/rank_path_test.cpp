// The critical path of one rank's host and device: cases worked out by hand, and any trace at all.
#include "analysis/rank_path.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "annotate/annotate.h"
#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace pleat::analysis {
namespace {

namespace categories = trace::categories;

// One rank with host threads and streams; times in nanoseconds.
class RankTrace {
  public:
    RankTrace() {
        trace::Rank rank;
        rank.number = 0;
        m_rank = m_builder.addRank(rank);
    }
    RankTrace& op(const char* name, std::int64_t begin, std::int64_t end, std::int64_t thread = 1) {
        add(trace::LaneKind::HostThread, thread, categories::kOperator, name, begin, end, "");
        return *this;
    }
    RankTrace& call(const char* name, std::int64_t begin, std::int64_t end,
                    const char* arguments = "", std::int64_t thread = 1) {
        m_call = m_builder.eventCount();
        add(trace::LaneKind::HostThread, thread, categories::kRuntimeCall, name, begin, end,
            arguments);
        return *this;
    }
    // Work of the last call.
    RankTrace& work(const char* name, std::int64_t begin, std::int64_t end, std::int64_t stream = 7,
                    std::string_view category = categories::kKernel) {
        m_builder.addDependency(m_call, m_builder.eventCount(), trace::DependencyKind::Launch);
        add(trace::LaneKind::DeviceStream, stream, category, name, begin, end, "");
        return *this;
    }
    RankTrace& record(const char* arguments, std::int64_t begin, std::int64_t end) {
        add(trace::LaneKind::DeviceStream, 7, categories::kDeviceSync, "wait", begin, end,
            arguments);
        return *this;
    }
    [[nodiscard]] RankPath path() {
        const trace::Trace trace = annotate::annotate(std::move(m_builder).build().trace).value();
        return analyseRankPath(trace, {}).value();
    }

  private:
    void add(trace::LaneKind kind, std::int64_t number, std::string_view domain, const char* name,
             std::int64_t begin, std::int64_t end, const char* arguments) {
        const auto [lane, isNew] = m_lanes.try_emplace({kind, number});
        if (isNew) lane->second = m_builder.addLane({m_rank, kind, number, ""});
        m_builder.addEvent({lane->second,
                            m_builder.intern(name),
                            m_builder.intern(domain),
                            trace::EventKind::Range,
                            trace::EventFlag::None,
                            {{begin}, {end}}},
                           arguments);
    }

    trace::TraceBuilder m_builder;
    trace::RankId m_rank;
    std::map<std::pair<trace::LaneKind, std::int64_t>, trace::LaneId> m_lanes;
    std::size_t m_call = 0;
};

// "kind name length", in order.
std::vector<std::string> linesOf(const RankPath& path) {
    std::vector<std::string> lines;
    for (const RankPathPiece& piece : path.pieces)
        lines.push_back(piece.kind + " " + piece.name + " " + std::to_string(piece.length.ns));
    return lines;
}

using Lines = std::vector<std::string>;

TEST(RankPath, ReachesTheDeviceThroughALaunchAndReturnsThroughAWait) {
    RankTrace trace;
    trace.op("add", 0, 30).call("cudaLaunchKernel", 10, 20).work("gemm", 18, 90);
    trace.call("cudaDeviceSynchronize", 40, 100);
    const RankPath path = trace.path();
    EXPECT_EQ(linesOf(path), (Lines{"host add 10", "launch gemm 8", "kernel gemm 72",
                                    "synchronisation cudaDeviceSynchronize 10"}));
    ASSERT_EQ(path.work.size(), 1U);
    EXPECT_TRUE(path.work.front().onPath);
    EXPECT_EQ(path.work.front().slack.ns, 0);
}

TEST(RankPath, AWaitForFinishedWorkStaysOnTheHost) {
    RankTrace trace;
    trace.call("cudaLaunchKernel", 0, 10).work("gemm", 12, 20).op("add", 10, 50);
    trace.call("cudaDeviceSynchronize", 50, 53);
    const RankPath path = trace.path();
    EXPECT_EQ(linesOf(path), (Lines{"host cudaLaunchKernel 10", "host add 40",
                                    "synchronisation cudaDeviceSynchronize 3"}));
    EXPECT_EQ(path.work.front().slack.ns, 30);
}

// bad-inputs 27
TEST(RankPath, OfACudaGraphGoesThroughItsKernels) {
    RankTrace trace;
    trace.call("cudaGraphLaunch", 0, 10'000);
    for (int i = 0; i < 20; ++i)
        trace.work("node", 10'000 + i * 1'000'000, 10'000 + (i + 1) * 1'000'000);
    trace.call("cudaDeviceSynchronize", 11'000, 20'015'000);
    const RankPath path = trace.path();
    EXPECT_EQ(path.length.ns, 20'015'000);
    EXPECT_EQ(path.byKind.at("kernel").ns, 20'000'000);
    EXPECT_EQ(path.byKind.at("launch").ns, 10'000);
    EXPECT_EQ(path.byKind.at("synchronisation").ns, 5'000);
    EXPECT_EQ(path.pieces.size(), 22U);
}

// bad-inputs 50: whole microseconds are no contradiction, milliseconds are.
TEST(RankPath, AnEndSlightlyTooLateIsRounding) {
    RankTrace trace;
    trace.op("outer", 0, 50'000)
        .op("inner", 10'000, 51'000)
        .call("cudaLaunchKernel", 20'000, 30'000);
    trace.work("gemm", 25'000, 101'000).call("cudaDeviceSynchronize", 60'000, 100'000);
    const RankPath path = trace.path();
    ASSERT_EQ(path.diagnostics.entries().size(), 1U);
    EXPECT_EQ(path.diagnostics.entries()[0].code, "iterations_unmarked");
    EXPECT_EQ(path.byKind.at("kernel").ns, 75'000);
    EXPECT_EQ(path.length.ns, 101'000);
}

TEST(RankPath, AnEndMuchTooLateIsReported) {
    RankTrace trace;
    trace.op("outer", 0, 50'000).op("inner", 10'000, 1'050'000);
    trace.call("cudaLaunchKernel", 20'000, 30'000).work("gemm", 25'000, 1'100'000);
    trace.call("cudaDeviceSynchronize", 60'000, 100'000);
    const RankPath path = trace.path();
    ASSERT_NE(path.diagnostics.find("times_disagree"), nullptr);
    EXPECT_EQ(path.diagnostics.find("times_disagree")->count, 2);
    for (const RankPathPiece& piece : path.pieces) EXPECT_GT(piece.length.ns, 0);
}

TEST(RankPath, AStreamThatWaitsForAnEventWaitsForTheWorkBeforeIt) {
    RankTrace trace;
    trace.call("cudaLaunchKernel", 0, 5).work("first", 10, 60, 20);
    trace.call("cudaEventRecord", 6, 7, R"({"correlation":3})");
    trace.call("cudaStreamWaitEvent", 8, 9, R"({"correlation":4})");
    trace.record(
        R"({"correlation":4,"stream":24,"wait_on_stream":20,"wait_on_cuda_event_record_corr_id":3})",
        8, 9);
    trace.call("cudaLaunchKernel", 10, 15).work("second", 62, 80, 24);
    trace.call("cudaStreamSynchronize", 20, 81, R"({"correlation":5})");
    trace.record(R"({"correlation":5,"stream":24})", 20, 81);
    EXPECT_EQ(linesOf(trace.path()),
              (Lines{"launch first 10", "kernel first 50", "pause second 2", "kernel second 18",
                     "synchronisation cudaStreamSynchronize 1"}));
}

TEST(RankPath, AnEventIsWaitedForOnItsStreamOnly) {
    RankTrace trace;
    trace.call("cudaLaunchKernel", 0, 5).work("short", 10, 30, 20);
    trace.call("cudaEventRecord", 6, 7, R"({"correlation":3})");
    trace.call("cudaLaunchKernel", 10, 15).work("long", 30, 39, 20);
    trace.call("cudaEventSynchronize", 20, 40, R"({"correlation":5})");
    trace.record(R"({"correlation":5,"wait_on_stream":20,"wait_on_cuda_event_record_corr_id":3})",
                 20, 40);
    EXPECT_EQ(linesOf(trace.path()), (Lines{"launch short 10", "kernel short 20",
                                            "synchronisation cudaEventSynchronize 10"}));
}

TEST(RankPath, GoesOnToTheThreadThatWorkedInAPause) {
    RankTrace trace;
    trace.op("forward", 0, 10).op("backward", 12, 50, 2).op("optimizer", 55, 60);
    trace.call("cudaLaunchKernel", 60, 61).work("gemm", 61, 62);
    EXPECT_EQ(linesOf(trace.path()),
              (Lines{"host forward 10", "pause backward 2", "host backward 38", "pause optimizer 5",
                     "host optimizer 5", "launch gemm 1", "kernel gemm 1"}));
}

TEST(RankPath, ACopyToPageableMemoryBlocksItsCall) {
    RankTrace trace;
    trace.call("cudaMemcpyAsync", 0, 50)
        .work("Memcpy DtoH (Device -> Pageable)", 10, 40, 7, categories::kCopy);
    EXPECT_EQ(linesOf(trace.path()), (Lines{"launch Memcpy DtoH (Device -> Pageable) 10",
                                            "copy Memcpy DtoH (Device -> Pageable) 30",
                                            "synchronisation cudaMemcpyAsync 10"}));
}

TEST(RankPath, OfAnyTraceIsUnbroken) {
    std::mt19937 random(7);
    const auto upTo = [&](int most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
    };
    for (int round = 0; round < 300; ++round) {
        RankTrace trace;
        const std::int64_t unit = round % 3 == 0 ? 1 : 1'000;
        for (int i = 0; i < 40; ++i) {
            const std::int64_t at = upTo(60) * unit, length = upTo(8) * unit;
            const std::int64_t thread = 1 + upTo(2);
            if (upTo(3) == 0) trace.op("add", at, at + length, thread);
            if (upTo(5) == 0) trace.call("cudaDeviceSynchronize", at, at + length, "", thread);
            if (upTo(6) == 0) trace.call("cudaStreamSynchronize", at, at + length, "", thread);
            const std::int64_t begin = at + (upTo(9) - 1) * unit;
            trace.call("cudaLaunchKernel", at, at + upTo(3) * unit, "", thread)
                .work("gemm", begin, begin + upTo(9) * unit, 7 + upTo(3));
        }
        const RankPath path = trace.path();
        base::Duration at, byKind;
        for (const RankPathPiece& piece : path.pieces) {
            ASSERT_EQ(piece.offset, at);
            ASSERT_GT(piece.length.ns, 0);
            at += piece.length;
        }
        for (const auto& [kind, length] : path.byKind) byKind += length;
        ASSERT_EQ(at, path.length);
        ASSERT_EQ(byKind, path.length);
        for (const WorkSlack& work : path.work) ASSERT_GE(work.slack.ns, 0);
    }
}

}  // namespace
}  // namespace pleat::analysis
