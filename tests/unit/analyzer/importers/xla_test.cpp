// Profiles of JAX and TensorFlow: devices are processes, and what an event is its thread says.
#include <gtest/gtest.h>

#include <map>

#include "annotate/annotate.h"
#include "trace/device_work.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::importers {
namespace {

using trace::DeviceWork;

std::string named(const char* what, int pid, int tid, const char* name) {
    return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})", what,
                       pid, tid, name);
}

std::string event(int pid, int tid, const char* name, int start, int duration,
                  const char* arguments = "{}") {
    return fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
                       name, pid, tid, start, duration, arguments);
}

trace::Trace annotated(const std::vector<std::string>& events) {
    const auto imported = importText(fmt::format(
        R"({{"displayTimeUnit":"ns","metadata":{{"highres-ticks":true}},"traceEvents":[{}]}})",
        fmt::join(events, ",")));
    EXPECT_TRUE(imported) << messageOf(imported);
    return annotate::annotate(*imported).value();
}

std::map<std::string, DeviceWork> worksOf(const trace::Trace& trace) {
    const trace::DeviceWorkKinds kinds(trace);
    std::map<std::string, DeviceWork> works;
    for (std::size_t i = 0; i < trace.eventCount(); ++i)
        works[std::string(trace.name(trace::EventId::at(i)))] = kinds.of(trace::EventId::at(i));
    return works;
}

std::vector<std::string> tpu() {
    return {named("process_name", 3, 0, "/device:TPU:0"),
            named("thread_name", 3, 1, "Steps"),
            named("thread_name", 3, 2, "XLA Modules"),
            named("thread_name", 3, 3, "XLA Ops"),
            named("thread_name", 3, 4, "Async XLA Ops"),
            named("process_name", 701, 0, "/host:CPU"),
            named("thread_name", 701, 9, "python"),
            event(3, 1, "7", 0, 100),
            event(3, 1, "8", 100, 100),
            event(3, 2, "jit_train_step(123)", 0, 100),
            event(3, 3, "while.2", 0, 90),
            event(3, 3, "fusion.12", 0, 40, R"({"hlo_category":"convolution fusion"})"),
            event(3, 3, "all-reduce.3", 40, 20, R"({"hlo_category":"all-reduce"})"),
            event(3, 3, "fusion.77", 60, 10, R"({"hlo_category":"reduce-scatter fusion"})"),
            event(3, 3, "reduce.5", 70, 10),
            event(3, 4, "collective-permute-start.1", 70, 25),
            event(701, 9, "PjitFunction(train_step)", 0, 5)};
}

TEST(Xla, OperationsOfATpuAreItsWork) {
    const trace::Trace trace = annotated(tpu());
    const std::map<std::string, DeviceWork> expected = {
        {"7", DeviceWork::None},
        {"8", DeviceWork::None},
        {"jit_train_step(123)", DeviceWork::None},
        {"while.2", DeviceWork::None},
        {"fusion.12", DeviceWork::Compute},
        {"all-reduce.3", DeviceWork::Communication},
        {"fusion.77", DeviceWork::Communication},
        {"reduce.5", DeviceWork::Compute},
        {"collective-permute-start.1", DeviceWork::Communication},
        {"PjitFunction(train_step)", DeviceWork::None}};
    EXPECT_EQ(worksOf(trace), expected);
    std::map<trace::Operation, int> operations;
    for (const trace::Transfer& transfer : trace.annotations().transfers)
        ++operations[transfer.operation];
    EXPECT_EQ(operations[trace::Operation::AllReduce], 1);
    EXPECT_EQ(operations[trace::Operation::ReduceScatter], 1);
    EXPECT_EQ(operations[trace::Operation::Other], 1);
    ASSERT_EQ(trace.annotations().iterations.size(), 2U);
    EXPECT_EQ(trace.annotations().iterations[0].iteration, 7);
}

// Where streams were recorded, the lines made of them would count everything twice.
TEST(Xla, StreamsOfAGpuAreItsWork) {
    const trace::Trace trace = annotated(
        {named("process_name", 1, 0, "/device:GPU:0 "),
         named("thread_name", 1, 13, "Stream #13(Compute)"),
         named("thread_name", 1, 14, "Stream #14(MemcpyD2D)"),
         named("thread_name", 1, 50, "XLA Ops"), event(1, 13, "gemm_fusion_dot_3", 0, 50),
         event(1, 13, "ncclDevKernel_AllGather_RING_LL(x)", 50, 20),
         event(1, 13, "ncclDevKernel_Generic_1(x)", 80, 20, R"({"hlo_op":"reduce-scatter.4"})"),
         event(1, 14, "MemcpyD2D", 10, 5), event(1, 50, "dot.3", 0, 50)});
    const std::map<std::string, DeviceWork> expected = {
        {"gemm_fusion_dot_3", DeviceWork::Compute},
        {"ncclDevKernel_AllGather_RING_LL(x)", DeviceWork::Communication},
        {"ncclDevKernel_Generic_1(x)", DeviceWork::Communication},
        {"MemcpyD2D", DeviceWork::Copy},
        {"dot.3", DeviceWork::None}};
    EXPECT_EQ(worksOf(trace), expected);
    bool reduces = false;
    for (const trace::Transfer& transfer : trace.annotations().transfers)
        reduces = reduces || transfer.operation == trace::Operation::ReduceScatter;
    EXPECT_TRUE(reduces);
    EXPECT_EQ(trace.ranks()[trace::RankId(0)].device, "cuda:0");
    EXPECT_EQ(trace.ranks()[trace::RankId(0)].number, 0);
}

TEST(Xla, ADeviceWithoutAnyLineOfWorkIsNamed) {
    const trace::Trace trace =
        annotated({named("process_name", 3, 0, "/device:CUSTOM:Megascale Trace"),
                   named("thread_name", 3, 1, "lines"), event(3, 1, "something", 0, 10),
                   event(3, 1, "else", 10, 10)});
    EXPECT_EQ(countOf(trace, "device_not_understood"), 2);
    EXPECT_EQ(worksOf(trace)["something"], DeviceWork::None);
}

// Nothing here is XLA's: events without a category stay as they are.
TEST(Xla, OtherProcessesAreNoDevices) {
    const trace::Trace trace =
        annotated({named("process_name", 3, 0, "my device"), named("thread_name", 3, 1, "XLA Ops"),
                   event(3, 1, "all-reduce.1", 0, 10)});
    EXPECT_EQ(worksOf(trace)["all-reduce.1"], DeviceWork::None);
    EXPECT_EQ(countOf(trace, "device_not_understood"), 0);
}

}  // namespace
}  // namespace pleat::importers
