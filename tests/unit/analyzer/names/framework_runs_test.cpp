// Small runs with the names that frameworks give: Megatron-LM's timers, MegatronApp's begins and
// ends, DeepSpeed's engine, torch.distributed.pipelining.
#include "unit/analyzer/names/made_profile.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using schedule::ActionKind;
using testing::Lines;
using testing::MadeProfile;
using testing::taskLines;
using testing::transferLines;

// One step of 1F1B on two ranks with two microbatches, with what each engine calls its parts. A
// receive names its peer, as a kernel's arguments do.
struct Names {
    const char *iteration, *forward, *backward, *sendForward, *receiveForward, *sendBackward,
        *receiveBackward;
};

MadeProfile oneStep(const Names& names) {
    MadeProfile profile;
    profile.rank(1, 0).rank(2, 1);
    const auto to = [](int peer) { return fmt::format(R"({{"peer": {}}})", peer); };
    const auto run = [&](int pid, const char* name, double start, double duration, int peer = -1) {
        profile.range(pid, name, start, duration, "app", peer < 0 ? "{}" : to(peer));
    };
    run(1, names.iteration, 0, 200), run(2, names.iteration, 0, 200);
    run(1, names.forward, 0, 10), run(1, names.sendForward, 10, 2, 1);
    run(1, names.forward, 12, 10), run(1, names.sendForward, 22, 2, 1);
    run(1, names.receiveBackward, 24, 20, 1), run(1, names.backward, 44, 20);
    run(1, names.receiveBackward, 64, 20, 1), run(1, names.backward, 84, 20);
    run(2, names.receiveForward, 0, 12, 0), run(2, names.forward, 12, 10);
    run(2, names.backward, 22, 20), run(2, names.sendBackward, 42, 2, 0);
    run(2, names.receiveForward, 44, 1, 0), run(2, names.forward, 45, 10);
    run(2, names.backward, 55, 20), run(2, names.sendBackward, 82, 2, 0);
    return profile;
}

const Names kMegatron = {"train_step",   "forward-compute", "backward-compute", "forward-send",
                         "forward-recv", "backward-send",   "backward-recv"};
const Names kMegatronFunctions = {
    "megatron.training.training.train_step",
    "megatron.core.pipeline_parallel.schedules.forward_step",
    "megatron.core.pipeline_parallel.schedules.backward_step",
    "megatron.core.pipeline_parallel.p2p_communication.send_forward",
    "megatron.core.pipeline_parallel.p2p_communication.recv_forward",
    "megatron.core.pipeline_parallel.p2p_communication.send_backward",
    "megatron.core.pipeline_parallel.p2p_communication.recv_backward"};
const Names kDeepSpeedFunctions = {"PipelineEngine.train_batch",
                                   "PipelineEngine._exec_forward_pass",
                                   "PipelineEngine._exec_backward_pass",
                                   "PipelineEngine._exec_send_activations",
                                   "PipelineEngine._exec_recv_activations",
                                   "PipelineEngine._exec_send_grads",
                                   "PipelineEngine._exec_recv_grads"};
const Names kDeepSpeedInstructions = {"PipelineEngine.train_batch",  "ForwardPass(buffer_id=0)",
                                      "BackwardPass(buffer_id=0)",   "SendActivation(buffer_id=0)",
                                      "RecvActivation(buffer_id=0)", "SendGrad(buffer_id=0)",
                                      "RecvGrad(buffer_id=0)"};

TEST(FrameworkRuns, EngineNamesBecomeAPipelineWithMessages) {
    for (const Names* names :
         {&kMegatron, &kMegatronFunctions, &kDeepSpeedFunctions, &kDeepSpeedInstructions}) {
        SCOPED_TRACE(names->forward);
        const trace::Trace trace = oneStep(*names).annotated();
        EXPECT_EQ(taskLines(trace),
                  (Lines{"r0 it0 0F0 0..10", "r0 it0 0F1 12..22", "r0 it0 0B0 44..64",
                         "r0 it0 0B1 84..104", "r1 it0 1F0 12..22", "r1 it0 1B0 22..42",
                         "r1 it0 1F1 45..55", "r1 it0 1B1 55..75"}));
        EXPECT_EQ(
            transferLines(trace),
            (Lines{"r0 it0 0SEND_F0 send pp", "r0 it0 0SEND_F1 send pp", "r0 it0 0RECV_B0 recv pp",
                   "r0 it0 0RECV_B1 recv pp", "r1 it0 1RECV_F0 recv pp", "r1 it0 1SEND_B0 send pp",
                   "r1 it0 1RECV_F1 recv pp", "r1 it0 1SEND_B1 send pp"}));
        EXPECT_EQ(trace.annotations().matches.size(), 4U);
        const trace::RecognisedSchedule& found = trace.annotations().schedule.value();
        EXPECT_EQ(found.name, "1f1b");
        EXPECT_EQ(found.ranks, 2);
        EXPECT_EQ(found.microbatches, 2);
        EXPECT_EQ(countOf(trace, "stages_unknown"), 0);
    }
}

// No range marks iterations: the optimizer's steps do, else a rank that is even again.
TEST(FrameworkRuns, IterationsEndWithTheOptimizerOrWhenTheRankIsEven) {
    for (const bool optimizer : {true, false}) {
        SCOPED_TRACE(optimizer);
        MadeProfile profile;
        profile.rank(1, 0).rank(2, 1);
        for (int step = 0; step < 3; ++step) {
            const double at = 200 * step;
            const auto run = [&](int pid, const char* name, double start) {
                profile.range(pid, name, at + start, 10, "app");
            };
            run(1, "forward_step", 0), run(1, "forward_step", 10);
            run(1, "backward_step", 40), run(1, "backward_step", 60);
            run(2, "forward_step", 10), run(2, "backward_step", 20);
            run(2, "forward_step", 30), run(2, "backward_step", 40);
            if (optimizer) run(1, "optimizer", 80), run(2, "optimizer", 80);
        }
        const trace::Trace trace = profile.annotated();
        const Lines lines = taskLines(trace);
        ASSERT_EQ(lines.size(), 24U);
        EXPECT_EQ(lines[3], "r0 it0 0B1 60..70");
        EXPECT_EQ(lines[4], "r0 it1 0F0 200..210");
        EXPECT_EQ(lines[12], "r1 it0 0F0 10..20");
        EXPECT_EQ(lines[15], "r1 it0 0B1 40..50");
        EXPECT_EQ(lines[23], "r1 it2 0B1 440..450");
    }
}

// A batch of a send and a receive in one range is both.
TEST(FrameworkRuns, AMegatronRangeOfTwoMessagesIsBoth) {
    MadeProfile profile;
    profile.rank(1, 0).rank(2, 1);
    for (const int pid : {1, 2}) {
        profile.range(pid, "forward-compute", 0, 10, "app");
        profile.range(pid, "backward-compute", 30, 10, "app");
    }
    profile.range(1, "forward-send-backward-recv", 10, 20, "app", R"({"peer": 1})");
    profile.range(2, "backward-send-forward-recv", 10, 20, "app", R"({"peer": 0})");
    EXPECT_EQ(transferLines(profile.annotated()),
              (Lines{"r0 it0 0SEND_F0 send pp", "r0 it0 0RECV_B0 recv pp",
                     "r1 it0 1SEND_B0 send pp", "r1 it0 1RECV_F0 recv pp"}));
}

// Begins and ends with all numbers at the end; the process id is the rank, in any order of events.
TEST(FrameworkRuns, MegatronAppsDumpIsAPipelineOfChunks) {
    for (const bool placed : {true, false}) {
        MadeProfile profile;
        for (int step = 10; step < 12; ++step) {
            const double at = 1'000 * (step - 10);
            for (const int pid : {1, 0}) {
                profile.instant(pid, "iteration begin", at,
                                fmt::format(R"({{"iteration":{}}})", step));
                double time = at + 10 + 20 * pid;
                const auto run = [&](const char* name, int chunk, int microbatch) {
                    profile.half(pid, name, 'B', time, fmt::format(R"({{"iteration":{}}})", step));
                    time += 20;
                    profile.half(
                        pid, name, 'E', time - 5,
                        fmt::format(R"({{"iteration":{},"microbatch":{},"model_chunk":{}{}}})",
                                    step, microbatch, chunk,
                                    placed ? fmt::format(R"(,"pp_rank":{})", pid) : ""));
                };
                for (int chunk = 0; chunk < 2; ++chunk)
                    for (int m = 0; m < 2; ++m) run("forward", chunk, m);
                for (int chunk = 1; chunk >= 0; --chunk)
                    for (int m = 1; m >= 0; --m) run("backward", chunk, m);
                profile.instant(pid, "reduce", time);
                profile.instant(pid, "iteration end", at + 900,
                                fmt::format(R"({{"iteration":{}}})", step));
            }
        }
        const trace::Trace trace = profile.annotated();
        ASSERT_EQ(trace.annotations().tasks.size(), 32U);
        const Lines lines = taskLines(trace);
        EXPECT_EQ(lines.front(), "r1 it10 1F0 30..45");
        EXPECT_EQ(lines[2], "r1 it10 3F0 70..85");
        EXPECT_EQ(lines[16], "r0 it10 0F0 10..25");
        const trace::RecognisedSchedule& found = trace.annotations().schedule.value();
        EXPECT_EQ(found.name, "folded");
        EXPECT_EQ(found.ranks, 2);
        EXPECT_EQ(found.chunks, 2);
        EXPECT_EQ(found.microbatches, 2);
        ASSERT_EQ(trace.annotations().iterations.size(), 4U);
        EXPECT_EQ(trace.annotations().iterations[0].iteration, 10);
        EXPECT_EQ(trace.annotations().iterations[0].span.length().ns, 900'000);
    }
}

// torch.distributed.pipelining: actions are tasks, ranges around messages say what kernels are for.
TEST(FrameworkRuns, TorchPipeliningsRangesTellWhatKernelsAreFor) {
    MadeProfile profile;
    profile.range(1, "ProfilerStep#4", 0, 300);
    profile.range(1, "PP:0F0", 0, 10).launch(1, 1, 20, 30);
    profile.range(1, "PP::fwd_send (stage 0)", 10, 5);
    profile.launch(1, 12, 50, 10, "ncclDevKernel_SendRecv");
    profile.range(1, "PP:0RECV_B0", 20, 5);
    profile.launch(1, 22, 60, 40, "ncclDevKernel_SendRecv");
    profile.range(1, "PP:0B0", 30, 10).launch(1, 31, 100, 50);
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(trace.annotations().tasks.size(), 2U);
    EXPECT_EQ(transferLines(trace),
              (Lines{"r0 it4 0SEND_F-1 send pp", "r0 it4 0RECV_B0 recv pp"}));
    for (const trace::Transfer& transfer : trace.annotations().transfers)
        EXPECT_GE(transfer.span.begin.ns, 50'000);  // the kernel's time, not the call's
}

// A host range that a framework's name makes a message is not counted beside the kernels.
TEST(FrameworkRuns, ARangeWithoutAKernelIsNoMessageWhereKernelsAreRecorded) {
    MadeProfile profile;
    profile.range(1, "forward-compute", 0, 10).launch(1, 1, 20, 30);
    profile.range(1, "forward-send", 10, 5).launch(1, 12, 50, 10, "ncclDevKernel_SendRecv");
    profile.range(1, "backward-recv", 100, 5);
    EXPECT_EQ(profile.annotated().annotations().transfers.size(), 1U);
}

}  // namespace
}  // namespace pleat::annotate
