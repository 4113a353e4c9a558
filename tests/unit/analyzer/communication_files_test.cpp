// Device work that is communication without being called nccl: what its time counts as. Files of
// other people are read in place, and skipped where they are not beside the checkout.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

using importers::importFile;
using importers::importText;
using importers::sharedTraces;
using trace::Operation;

RunAnalysis analysed(const base::Result<trace::Trace>& imported, const std::string& rules = {}) {
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    auto parsed =
        annotate::Rules::parse(rules.empty() ? R"({"rules":[]})" : rules, "test.rules.json");
    EXPECT_TRUE(parsed) << parsed.error().message;
    const auto annotated = annotate::annotate(*imported, *parsed);
    EXPECT_TRUE(annotated);
    auto run = analyseRun(*annotated, {});
    EXPECT_TRUE(run);
    return std::move(*run);
}

std::map<std::string, DeviceWork> kindsOf(const RunAnalysis& run) {
    std::map<std::string, DeviceWork> kinds;
    for (const KernelFigures& kernel : run.devices->kernels) kinds[kernel.name] = kernel.kind;
    return kinds;
}

std::string textOf(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(CommunicationFiles, ElevenLibrariesKernelsAreCommunicationOfTheRightKind) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RunAnalysis run = analysed(importFile(sharedTraces() / "faults" / "comm_names.json"));
    ASSERT_EQ(run.ranks.size(), 1U);
    EXPECT_EQ(run.ranks[0].time[analysis::TimePart::Compute].ns, 0);
    EXPECT_EQ(run.ranks[0].time[analysis::TimePart::Moving].ns, 11 * 500'000);
    for (const auto& [name, kind] : kindsOf(run))
        EXPECT_EQ(kind, DeviceWork::Communication) << name;
    std::map<Operation, std::int64_t> counts;
    for (const TransferRow& row : run.transfers) counts[row.key.operation] += row.figures.count;
    const std::map<Operation, std::int64_t> right = {{Operation::AllReduce, 4},
                                                     {Operation::AllToAll, 3},
                                                     {Operation::AllGather, 2},
                                                     {Operation::ReduceScatter, 1},
                                                     {Operation::Other, 1}};
    EXPECT_EQ(counts, right) << "only RCCL's generic kernel does not say its operation";
}

void expectNothingHidden(const RunAnalysis& run) {
    ASSERT_EQ(run.ranks.size(), 1U);
    EXPECT_EQ(run.ranks[0].time[analysis::TimePart::Compute].ns, 1'000'000) << "the gemm alone";
    EXPECT_EQ(run.ranks[0].time.hidden.ns, 0);
    EXPECT_EQ(run.ranks[0].time[analysis::TimePart::Moving].ns, 1'000'000);
}

TEST(CommunicationFiles, AKernelThatARuleMakesATransferIsNotHiddenUnderItself) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto folder = sharedTraces() / "faults";
    const RunAnalysis run =
        analysed(importFile(folder / "rule_transfer_kernel_hidden_under_itself.json"),
                 textOf(folder / "rule_transfer.rules.json"));
    expectNothingHidden(run);
    EXPECT_EQ(kindsOf(run)["my_ep_dispatch"], DeviceWork::Communication);
    EXPECT_EQ(kindsOf(run)["gemm"], DeviceWork::Compute);
}

std::string device(const char* category, const char* name, int stream, int start, int duration) {
    return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},)"
                       R"("args":{{"stream":{},"device":0}}}})",
                       category, name, stream, start, duration, stream);
}

std::string profile(const std::vector<std::string>& events) {
    return fmt::format(R"({{"distributedInfo":{{"rank":0,"world_size":2}},"traceEvents":[{}]}})",
                       fmt::join(events, ","));
}

// Likewise for a copy, and for a kernel of which only some are transfers (by their arguments no
// rule can tell, so by name): the same in an own file.
TEST(CommunicationFiles, ACopyThatARuleMakesATransferIsCommunication) {
    const RunAnalysis run = analysed(
        importText(
            profile({device("kernel", "gemm", 7, 0, 1000),
                     device("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 8, 1000, 1000)})),
        R"({"rules":[{"name":"^Memcpy PtoP","as":"transfer","operation":"all_gather",)"
        R"("dimension":"tp"}]})");
    expectNothingHidden(run);
    EXPECT_EQ(run.ranks[0].time[analysis::TimePart::Copy].ns, 0);
}

// Only the kernels that communicate leave compute: a host's range around a layer says nothing about
// its matrix products.
TEST(CommunicationFiles, ARangeThatARuleMakesATransferLeavesTheKernelsWithinAsTheyAre) {
    const auto call = [](int id, int start) {
        return fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,)"
                           R"("tid":1,"ts":{},"dur":2,"args":{{"correlation":{}}}}})",
                           start, id);
    };
    const auto launched = [](const char* name, int id, int start) {
        return fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},)"
                           R"("dur":1000,"args":{{"correlation":{},"stream":7,"device":0}}}})",
                           name, start, id);
    };
    const RunAnalysis run = analysed(
        importText(profile({R"({"ph":"X","cat":"user_annotation","name":"moe exchange","pid":1,)"
                            R"("tid":1,"ts":0,"dur":50,"args":{}})",
                            call(1, 10), call(2, 20), launched("gemm", 1, 100),
                            launched("ncclDevKernel_SendRecv", 2, 1100)})),
        R"({"rules":[{"name":"^moe exchange$","as":"transfer","operation":"all_to_all",)"
        R"("dimension":"ep"}]})");
    expectNothingHidden(run);
    ASSERT_EQ(run.transfers.size(), 1U);
    EXPECT_EQ(run.transfers[0].key.operation, Operation::AllToAll);
    EXPECT_EQ(run.transfers[0].key.dimension, trace::Dimension::Ep);
}

// What a rule says of a kernel that is known anyhow replaces what its name says; it is one
// transfer.
TEST(CommunicationFiles, ARuleForAKnownKernelSaysWhatItIsFor) {
    const RunAnalysis run = analysed(
        importText(profile({device("kernel", "gemm", 7, 0, 1000),
                            device("kernel", "ncclDevKernel_Generic_1(x)", 8, 1000, 1000)})),
        R"({"rules":[{"name":"Generic","as":"transfer","operation":"all_gather",)"
        R"("dimension":"dp"}]})");
    expectNothingHidden(run);
    ASSERT_EQ(run.transfers.size(), 1U);
    EXPECT_EQ(run.transfers[0].figures.count, 1);
    EXPECT_EQ(run.transfers[0].key.operation, Operation::AllGather);
    EXPECT_EQ(run.transfers[0].key.dimension, trace::Dimension::Dp);
}

}  // namespace
}  // namespace pleat::analysis
