// Runs of training frameworks that never heard of us, by the names they give their ranges; tasks
// last as long as the device work that was launched within.
#include <gtest/gtest.h>

#include "annotate/annotate.h"
#include "annotate/framework_rules.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using schedule::ActionKind;

class Profile {
  public:
    void range(const std::string& name, double start, double end,
               const std::string& category = "user_annotation", int thread = 9) {
        m_events.push_back(
            fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},"dur":{}}})",
                        category, name, thread, start, end - start));
    }
    // A call at `called` starts a kernel.
    void launch(double called, double start, double end, const std::string& kernel = "gemm",
                int thread = 9, int stream = 7, const char* category = "kernel") {
        ++m_correlation;
        m_events.push_back(fmt::format(
            R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":{},"ts":{},"dur":1,"args":{{"correlation":{}}}}})",
            thread, called, m_correlation));
        m_events.push_back(fmt::format(
            R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"correlation":{}}}}})",
            category, kernel, stream, start, end - start, m_correlation));
    }
    void copy(double called, double start, double end, int stream) {
        launch(called, start, end, "Memcpy HtoD (Pinned -> Device)", 9, stream, "gpu_memcpy");
    }
    [[nodiscard]] trace::Trace annotated(const Rules& rules = {}) const {
        const auto imported = importers::importText(fmt::format("[{}]", fmt::join(m_events, ",")));
        EXPECT_TRUE(imported) << importers::messageOf(imported);
        return annotate(*imported, rules).value();
    }

  private:
    std::vector<std::string> m_events;
    int m_correlation = 0;
};

// "F0 it0 s0 100..150", in order of the trace, in microseconds from the first event.
std::vector<std::string> linesOf(const trace::Trace& trace) {
    std::vector<std::string> lines;
    for (const trace::Task& task : trace.annotations().tasks) {
        lines.push_back(fmt::format(
            "{}{} it{} s{} {}..{}", task.kind == ActionKind::Forward ? "F" : "B", task.microbatch,
            task.iteration, task.stage, task.span.begin.ns / 1'000, task.span.end.ns / 1'000));
    }
    return lines;
}

using Lines = std::vector<std::string>;

TEST(FrameworkNames, OurRulesAreRules) {
    EXPECT_TRUE(Rules::parse(kFrameworkRules, "framework_rules.json"));
}

TEST(FrameworkNames, MegatronsTimersBecomeTasksOfTheDevice) {
    Profile profile;
    for (int step = 0; step < 2; ++step) {
        const double at = 1'000 * step;
        profile.range(fmt::format("iteration {}", step + 5), at, at + 900);
        for (int i = 0; i < 2; ++i) {
            profile.range("forward-compute", at + 100 * i, at + 100 * i + 20);
            profile.launch(at + 100 * i + 1, at + 100 * i + 30, at + 100 * i + 60);
            profile.launch(at + 100 * i + 2, at + 100 * i + 60, at + 100 * i + 90);
        }
        profile.range("backward-compute", at + 300, at + 400);
        profile.launch(at + 310, at + 350, at + 500, "gemm", 11);  // autograd's thread
        profile.launch(at + 320, at + 400, at + 800, "ncclDevKernel_AllReduce_Sum", 11, 20);
    }
    EXPECT_EQ(linesOf(profile.annotated()),
              (Lines{"F0 it5 s0 30..90", "F1 it5 s0 130..190", "B0 it5 s0 350..500",
                     "F0 it6 s0 1030..1090", "F1 it6 s0 1130..1190", "B0 it6 s0 1350..1500"}));
}

TEST(FrameworkNames, OneFunctionWithinAnotherIsOneTask) {
    Profile profile;
    profile.range("PipelineEngine.train_batch", 0, 500);
    profile.range("PipelineEngine._exec_forward_pass", 10, 60);
    profile.range("DeepSpeedEngine.forward", 20, 50);
    profile.range("PipelineEngine._exec_backward_pass", 70, 160);
    profile.range("DeepSpeedEngine.backward", 80, 150);
    profile.range("PipelineEngine._exec_optimizer_step", 170, 200);
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(linesOf(trace), (Lines{"F0 it0 s0 10..60", "B0 it0 s0 70..160"}));
    EXPECT_EQ(trace.annotations().phases.size(), 1U);
    EXPECT_EQ(trace.annotations().iterations.size(), 1U);
}

// The profiler writes annotations again on the device's lanes; the task is one all the same.
TEST(FrameworkNames, PipeliningWithoutStagesIsCountedOnce) {
    Profile profile;
    profile.range("ProfilerStep#3", 0, 300);
    profile.range("Forward 0", 0, 10);
    profile.range("Forward 0", 40, 70, "gpu_user_annotation", 7);
    profile.launch(5, 40, 70);
    profile.range("Backward 0", 20, 30);
    profile.launch(25, 80, 150);
    EXPECT_EQ(linesOf(profile.annotated()), (Lines{"F0 it3 s0 40..70", "B0 it3 s0 80..150"}));
}

// The batch is copied on a stream of its own while the device still runs the step before.
TEST(FrameworkNames, ACopyAheadOnASideStreamBeginsNoTask) {
    Profile profile;
    profile.range("Forward 0", 0, 10);
    profile.copy(2, 4, 9, 21);
    profile.launch(5, 40, 70);
    profile.copy(6, 70, 75, 7);  // on the stream of the kernels: part of the task
    EXPECT_EQ(linesOf(profile.annotated()), (Lines{"F0 it0 s0 40..75"}));
}

TEST(FrameworkNames, ATaskThatLaunchedNothingKeepsTheHostsTime) {
    Profile profile;
    profile.range("Forward 0", 0, 10);
    profile.range("Backward 0", 20, 30);
    profile.launch(25, 80, 150);
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(linesOf(trace), (Lines{"F0 it0 s0 0..10", "B0 it0 s0 80..150"}));
    EXPECT_EQ(countOf(trace, "host_time_of_task"), 1);
}

TEST(FrameworkNames, ShardedDataParallelCommunicationIsDp) {
    Profile profile;
    profile.range("FSDP::all_gather (layers.0)", 0, 20);
    profile.launch(5, 40, 70, "ncclDevKernel_AllGather_RING_LL");
    profile.launch(30, 70, 90, "ncclDevKernel_AllGather_RING_LL");
    const trace::Trace trace = profile.annotated();
    const auto& transfers = trace.annotations().transfers;
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(transfers[trace::TransferId(0)].dimension, trace::Dimension::Dp);
    EXPECT_EQ(transfers[trace::TransferId(1)].dimension, trace::Dimension::Other);
}

// A rule's transfer and the kernel it launched are one.
TEST(FrameworkNames, ARulesTransferTellsItsKernelsWhatItKnows) {
    const auto rules = Rules::parse(
        R"({"rules": [{"name": "^sync chunk (?<chunk>\\d+)$", "as": "transfer",
            "operation": "all_reduce", "dimension": "dp", "action": "REDUCE_GRAD"}]})",
        "rules.json");
    ASSERT_TRUE(rules);
    Profile profile;
    profile.range("sync chunk 1", 0, 20);
    profile.launch(5, 40, 70, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    profile.range("sync chunk 0", 80, 90);  // launched nothing
    const trace::Trace trace = profile.annotated(*rules);
    const auto& transfers = trace.annotations().transfers;
    ASSERT_EQ(transfers.size(), 2U);
    for (const trace::Transfer& transfer : transfers) {
        EXPECT_EQ(transfer.dimension, trace::Dimension::Dp);
        EXPECT_EQ(transfer.action, ActionKind::ReduceGradient);
        EXPECT_EQ(transfer.span.begin.ns, transfer.chunk == 1 ? 40'000 : 80'000);
    }
}

// In a group of two, send and receive say with whom.
TEST(FrameworkNames, TheOtherOfTwoIsThePeer) {
    const auto imported = importers::importText(
        R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":7,"ts":1,"dur":1,)"
        R"("args":{"Collective name":"send","Process Group Name":"5","Group size":2,"Process Group Ranks":"[3, 7]"}}],)"
        R"("distributedInfo":{"rank":7}})");
    ASSERT_TRUE(imported) << importers::messageOf(imported);
    const trace::Trace trace = annotate(*imported).value();
    ASSERT_EQ(trace.annotations().transfers.size(), 1U);
    EXPECT_EQ(trace.annotations().transfers[trace::TransferId(0)].peer, 3);
}

}  // namespace
}  // namespace pleat::annotate
