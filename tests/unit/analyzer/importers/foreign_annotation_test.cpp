// What other programs' events mean: Megatron-style timers, NCCL kernels, PyTorch pipelining; and
// the clocks of ranks that were recorded apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "annotate/annotate.h"
#include "annotate/clock_alignment.h"
#include "annotate/communication.h"
#include "trace/categories.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using importers::sharedTraces;
using trace::Dimension;
using trace::Operation;

trace::Trace annotatedText(const std::string& text) {
    auto imported = importers::importText(text);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

trace::Trace annotatedFiles(const std::vector<std::filesystem::path>& files) {
    auto imported = importers::importTraces(files);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

std::string device(const std::string& category, const std::string& name, double start,
                   double duration, const std::string& arguments = "{}", int stream = 7) {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{}}})",
        category, name, stream, start, duration, arguments);
}

std::string host(const std::string& category, const std::string& name, double start,
                 double duration, const std::string& arguments = "{}") {
    return fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":9,"ts":{},"dur":{},"args":{}}})",
        category, name, start, duration, arguments);
}

// bad-inputs 32, 45
TEST(Communication, KernelNamesSayTheCollectiveAndNothingElse) {
    const std::pair<const char*, Operation> names[] = {
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         Operation::AllReduce},
        {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", Operation::AllGather},
        {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", Operation::ReduceScatter},
        {"ncclKernel_Broadcast_RING_LL_Sum_int8_t", Operation::Broadcast},
        {"ncclDevKernel_Reduce_Sum_f32_RING_LL", Operation::Reduce},
        {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Operation::Other},
        {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", Operation::Other},
        {"void deep_ep::intranode::dispatch<8, 768>(int4*)", Operation::AllToAll}};
    for (const auto& [name, operation] : names) {
        EXPECT_TRUE(trace::categories::isCommunicationKernel(name)) << name;
        EXPECT_EQ(operationOfKernel(name), operation) << name;
    }
    EXPECT_FALSE(trace::categories::isCommunicationKernel("ampere_sgemm_128x64_tn"));
    EXPECT_FALSE(endsTogether(Operation::AllReduce, "ncclKernel_AllReduce_TREE_LL"));
    EXPECT_FALSE(endsTogether(Operation::Broadcast, "ncclKernel_Broadcast_RING_LL"));
}

TEST(Communication, GroupDescriptionsSayTheDimension) {
    const std::pair<Dimension, std::vector<const char*>> all[] = {
        {Dimension::Tp,
         {"TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp", "mesh_etp", "tp", "tp:0", "tensor_parallel",
          "EXPERT_TENSOR_PARALLEL_GROUP", "TensorParallel"}},
        {Dimension::Dp,
         {"DATA_PARALLEL_GROUP", "DATA_PARALLEL_GROUP_WITH_CP", "EXPERT_DATA_PARALLEL_GROUP",
          "INTRA_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP", "mesh_dp", "mesh_dp_shard",
          "mesh_dp_replicate", "mesh_fsdp", "mesh_hsdp", "mesh_dp_cp", "mesh_dp_shard_cp",
          "mesh_dp_shard_in_ep", "mesh_dp_shard_mod_ep", "expert_data_parallel_group",
          "FullyShardedDataParallel.forward", "FSDP::all_gather (layers.0)", "dp_group",
          "INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP", "DistributedDataParallel"}},
        {Dimension::Pp,
         {"PIPELINE_MODEL_PARALLEL_GROUP", "mesh_pp", "pp:0", "EMBEDDING_GROUP",
          "POSITION_EMBEDDING_GROUP", "pipe_parallel_group"}},
        {Dimension::Cp,
         {"CONTEXT_PARALLEL_GROUP", "HIERARCHICAL_CONTEXT_PARALLEL_GROUPS", "mesh_cp", "mesh_sp",
          "sequence_parallel_group"}},
        {Dimension::Ep,
         {"EXPERT_MODEL_PARALLEL_GROUP", "mesh_ep", "ep:0", "expert_parallel",
          "EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP"}},
        {Dimension::Other,
         {"default_pg", "undefined", "", "0", "mesh", "MODEL_PARALLEL_GROUP", "tensorboard",
          "context_manager", "data_loader_group", "mesh_world", "stepping", "my_pipeline",
          "TENSOR_AND_DATA_PARALLEL_GROUP", "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP",
          "mesh_pp_tp"}}};
    for (const auto& [dimension, descriptions] : all) {
        for (const char* description : descriptions)
            EXPECT_EQ(dimensionOfGroup(description), dimension)
                << description << ": " << trace::toString(dimensionOfGroup(description));
    }
}

TEST(Communication, ArgumentsSayBytesGroupAndPeer) {
    Communication found;
    ASSERT_TRUE(readCommunication(
        R"({"Collective name":"send","dtype":"BFloat16","In msg nelems":100,"Group size":4,
            "Process Group Name":"7","Process Group Description":"PIPELINE_MODEL_PARALLEL_GROUP",
            "Process Group Ranks":"[1, 3, 5, 7]","Seq":12,"Dst Rank":2,"Comms Id":12345678901234567890})",
        found));
    EXPECT_EQ(found.operation, Operation::Send);
    EXPECT_EQ(found.bytes, 200);
    EXPECT_EQ(found.groupRanks, (std::vector<std::int32_t>{1, 3, 5, 7}));
    EXPECT_EQ(found.sequence, 12);
    EXPECT_EQ(found.peer, 2);
    EXPECT_EQ(found.communicator, "12345678901234567890");
    Communication cut;
    ASSERT_TRUE(readCommunication(
        R"({"Collective name":"allreduce","Process Group Ranks":"[0, 1, ...]"})", cut));
    EXPECT_TRUE(cut.groupRanks.empty());
    Communication none;
    EXPECT_FALSE(readCommunication(R"({"External id": 5})", none));
}

TEST(ForeignAnnotation, GroupRelativePeersBecomeGlobalRanks) {
    const trace::Trace trace = annotatedText(
        "[" +
        device("kernel", "ncclDevKernel_SendRecv", 0, 5,
               R"({"Collective name":"send","dtype":"Float","In msg nelems":2,"Group size":2,
                   "Process Group Name":"3","Process Group Ranks":"[4, 6]","Dst Rank":1})") +
        "]");
    ASSERT_EQ(trace.annotations().transfers.size(), 1U);
    const trace::Transfer& send = trace.annotations().transfers[trace::TransferId(0)];
    EXPECT_EQ(send.operation, Operation::Send);
    EXPECT_EQ(send.dimension, Dimension::Pp);
    EXPECT_EQ(send.peer, 6);
    EXPECT_EQ(send.bytes, 8);
}

// The kernel says nothing; the host call around its launch does.
TEST(ForeignAnnotation, TheHostsCallDescribesItsKernel) {
    const trace::Trace trace =
        annotatedText("[" + host("user_annotation", "nccl:all_to_all", 0, 10) + "," +
                      host("cuda_runtime", "cudaLaunchKernel", 5, 1, R"({"correlation":3})") + "," +
                      device("kernel", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 20, 5,
                             R"({"correlation":3})") +
                      "]");
    ASSERT_EQ(trace.annotations().transfers.size(), 1U);
    EXPECT_EQ(trace.annotations().transfers[trace::TransferId(0)].operation, Operation::AllToAll);
}

// bad-inputs 53
TEST(ForeignAnnotation, StepsAreDistinctNumbersAndPipelineNamesAreTasks) {
    const trace::Trace trace = annotatedText(
        "[" + host("user_annotation", "ProfilerStep#5", 0, 100) + "," +
        host("user_annotation", "ProfilerStep#5", 1, 90) + "," +
        device("gpu_user_annotation", "ProfilerStep#5", 2, 90) + "," +
        host("user_annotation", "PP:0F0", 3, 1) + "," + host("user_annotation", "PP:0B0", 5, 1) +
        "," + device("gpu_user_annotation", "PP:0F0", 30, 10) + "," +
        device("gpu_user_annotation", "PP:0B0", 50, 20) + "]");
    EXPECT_EQ(trace.annotations().iterations.size(), 1U);
    ASSERT_EQ(trace.annotations().tasks.size(), 2U);
    const trace::Task& backward = trace.annotations().tasks[trace::TaskId(1)];
    EXPECT_EQ(backward.span.length().ns, 20'000) << "device time, not the host's";
    EXPECT_EQ(backward.iteration, 5);
    EXPECT_EQ(backward.kind, schedule::ActionKind::FullBackward);
}

// bad-inputs 15
TEST(ForeignAnnotation, ImpossibleDurationsAreSaid) {
    std::string text = "[" + device("kernel", "gemm", 0, 1'600'000);
    for (int i = 1; i < 10; ++i) text += "," + device("kernel", "gemm", 30.0 * i, 20);
    const trace::Trace trace = annotatedText(text + "]");
    EXPECT_EQ(countOf(trace, "impossible_duration"), 1);
    EXPECT_EQ(trace.eventCount(), 10U);
}

// bad-inputs 55
TEST(ForeignAnnotation, AProfileWithoutDeviceWorkIsSaid) {
    EXPECT_EQ(
        countOf(annotatedText("[" + host("cpu_op", "aten::add", 0, 5) + "]"), "no_device_work"), 1);
}

// Two pipeline ranks, one microbatch: messages get their microbatch from the tasks.
TEST(ForeignAnnotation, TimersBecomeTasksAndMessages) {
    const auto timer = [](int pp, const char* name, double start, double duration, int microbatch) {
        return fmt::format(
            R"({{"ph":"X","cat":"{0}","name":"{0}","pid":0,"tid":{1},"ts":{2},"dur":{3},"args":{{"step":4,"model_chunk":{4},"mb_id":{4},"seq_id":0}}}})",
            name, pp, start, duration, microbatch);
    };
    const auto named = [](int pp) {
        return fmt::format(
            R"({{"ph":"M","name":"thread_name","pid":0,"tid":{0},"args":{{"name":"PP rank {0}, TP rank 0, compute"}}}})",
            pp);
    };
    const trace::Trace trace = annotatedText(
        "[" + named(0) + "," + named(1) + "," + timer(0, "forward-compute", 0, 10, 0) + "," +
        timer(0, "forward-send", 10, 2, -1) + "," + timer(1, "forward-recv", 9, 3, -1) + "," +
        timer(1, "forward-compute", 12, 10, 0) + "," + timer(1, "backward-compute", 22, 20, 0) +
        "," + timer(1, "backward-send", 42, 2, -1) + "," + timer(0, "backward-recv", 41, 3, -1) +
        "," + timer(0, "backward-compute", 44, 20, 0) + "," + timer(0, "optimizer", 70, 5, -1) +
        "]");
    const trace::Annotations& found = trace.annotations();
    EXPECT_EQ(found.tasks.size(), 4U);
    EXPECT_EQ(found.phases.size(), 1U);
    ASSERT_EQ(found.transfers.size(), 4U);
    for (const trace::Transfer& transfer : found.transfers) {
        EXPECT_EQ(transfer.microbatch, 0);
        EXPECT_TRUE(transfer.match.valid());
    }
    ASSERT_TRUE(found.schedule);
    EXPECT_EQ(found.schedule->ranks, 2);
}

TEST(RealAnnotation, APipelineJobOfTimersIsRecognised) {
    SKIP_WITHOUT_SHARED_TRACES();
    const trace::Trace trace =
        annotatedFiles({sharedTraces() / "straggler" / "timeline-ST.json.gz"});
    EXPECT_EQ(trace.annotations().tasks.size(), 2'048U);
    EXPECT_EQ(countOf(trace, "unmatched_transfer"), 0);
    ASSERT_TRUE(trace.annotations().schedule);
    EXPECT_EQ(trace.annotations().schedule->name, "1f1b");
    EXPECT_EQ(trace.annotations().schedule->ranks, 4);
    EXPECT_EQ(trace.annotations().schedule->microbatches, 4);
}

// bad-inputs 38
TEST(RealAnnotation, SendRecvKernelsOnTheComputeStreamAreCommunication) {
    SKIP_WITHOUT_SHARED_TRACES();
    const trace::Trace trace = annotatedFiles({sharedTraces() / "nsys" / "mfu_2gpu_before.sqlite"});
    std::size_t sendRecv = 0;
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        if (trace.name(transfer.event).find("SendRecv") != std::string_view::npos) ++sendRecv;
    }
    EXPECT_EQ(sendRecv, 66U);
}

std::vector<std::filesystem::path> eightRanks() {
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < 8; ++i) {
        files.push_back(sharedTraces() / "dlrm_8rank" / fmt::format("rank{}.pt.trace.json.gz", i));
    }
    return files;
}

// bad-inputs 44
TEST(RealAnnotation, EightRanksShareEightCollectivesThatEndTogether) {
    SKIP_WITHOUT_SHARED_TRACES();
    const trace::Trace trace = annotatedFiles(eightRanks());
    const trace::Annotations& found = trace.annotations();
    ASSERT_EQ(found.matches.size(), 8U);
    std::size_t lastIsSeven = 0;
    for (const trace::Match& match : found.matches) {
        EXPECT_TRUE(match.complete);
        ASSERT_EQ(match.members.size(), 8U);
        std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
        trace::RankId latest;
        base::TraceTime latestStart{-1};
        for (const trace::TransferId member : match.members) {
            const trace::Transfer& transfer = found.transfers[member];
            first = std::min(first, transfer.span.end.ns);
            last = std::max(last, transfer.span.end.ns);
            if (transfer.span.begin <= latestStart) continue;
            latestStart = transfer.span.begin;
            latest = transfer.rank;
        }
        EXPECT_GE(last - first, 1'000);
        EXPECT_LE(last - first, 11'000);
        EXPECT_EQ(match.lastRank, latest);
        lastIsSeven += trace.ranks()[match.lastRank].number == 7 ? 1 : 0;
    }
    EXPECT_GE(lastIsSeven, 4U);
    EXPECT_EQ(countOf(trace, "clock_disagrees"), 0);
}

// Writes the ranks again, rank 3 shifted by 11.56 s and rank 5 drifting by 50 ppm.
std::vector<std::filesystem::path> skewed(const test::TemporaryFolder& folder) {
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < 8; ++rank) {
        const std::filesystem::path file = folder.file(fmt::format("rank{}.json", rank));
        const auto packed = eightRanks()[static_cast<std::size_t>(rank)];
        const std::string command =
            "gzip -dc '" + packed.string() + "' > '" + file.string() + ".plain'";
        EXPECT_EQ(std::system(command.c_str()), 0);
        nlohmann::json json =
            nlohmann::json::parse(std::ifstream(file.string() + ".plain"), nullptr, false);
        double first = 1e300;
        for (const auto& event : json["traceEvents"])
            if (event.contains("ts")) first = std::min(first, event["ts"].get<double>());
        for (auto& event : json["traceEvents"]) {
            if (!event.contains("ts")) continue;
            const double time = event["ts"].get<double>();
            if (rank == 3) event["ts"] = time + 11'560'000;
            if (rank == 5) event["ts"] = time + (time - first) * 50e-6;
        }
        std::ofstream(file) << json.dump();
        files.push_back(file);
    }
    return files;
}

// bad-inputs 20
TEST(RealAnnotation, SkewedClocksComeBackWithinTheirBound) {
    SKIP_WITHOUT_SHARED_TRACES();
    const test::TemporaryFolder folder;
    const trace::Trace right = annotatedFiles(eightRanks());
    auto imported = importers::importTraces(skewed(folder));
    ASSERT_TRUE(imported) << importers::messageOf(imported);
    std::optional<ClockAlignment> alignment;
    {
        const trace::Trace wrong = annotate(*imported).value();
        EXPECT_GT(countOf(wrong, "clock_disagrees"), 0);
        alignment = alignClocks(wrong);
    }
    ASSERT_TRUE(alignment);
    const trace::Trace aligned =
        annotate(withCorrectedClocks(std::move(*imported), *alignment)).value();
    EXPECT_EQ(countOf(aligned, "clock_disagrees"), 0);
    // Both begin at their own first event; rank 0's first one relates them.
    ASSERT_EQ(aligned.eventCount(), right.eventCount());
    std::int64_t worst = 0;
    const std::int64_t shift = aligned.event(trace::EventId(0)).span.begin.ns -
                               right.event(trace::EventId(0)).span.begin.ns;
    for (std::size_t i = 0; i < right.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const auto away = aligned.event(id).span.begin.ns - right.event(id).span.begin.ns - shift;
        worst = std::max(worst, std::abs(away));
    }
    EXPECT_LE(worst, 15'000);
    std::int64_t bound = 0;
    for (const ClockCorrection& correction : alignment->of)
        bound = std::max(bound, correction.bound.ns);
    EXPECT_LE(worst, bound);
    EXPECT_LE(bound, 30'000);
}

// A clean case: offsets and drift that are known exactly.
TEST(ClockAlignment, AnOffsetAndADriftComeBack) {
    const auto rankText = [](int rank, double offset, double drift) {
        std::string text = "{\"traceEvents\":[";
        for (int i = 0; i < 20; ++i) {
            const double end = 1'000'000.0 * i + 5'000;
            const double start = end - 100 - 10 * ((i + rank) % 3);
            const auto seen = [&](double time) { return time + offset + drift * time; };
            text += fmt::format(
                R"({}{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":7,"ts":{:.3f},"dur":{:.3f},"args":{{"Collective name":"allreduce","Process Group Name":"0","Group size":2,"Seq":{}}}}})",
                i > 0 ? "," : "", seen(start), seen(end) - seen(start), i);
        }
        return text + fmt::format("],\"distributedInfo\":{{\"rank\":{}}}}}", rank);
    };
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file("a.json"), rankText(0, 0, 0));
    test::writeBytes(folder.file("b.json"), rankText(1, 2'500, 80e-6));
    const std::vector<std::filesystem::path> files = {folder.file("a.json"), folder.file("b.json")};
    const auto alignment = alignClocks(annotatedFiles(files));
    ASSERT_TRUE(alignment);
    const bool firstIsReference = alignment->reference == trace::RankId(0);
    const ClockCorrection& moved = alignment->of[trace::RankId(firstIsReference ? 1 : 0)];
    EXPECT_NEAR(moved.drift, firstIsReference ? -80e-6 : 80e-6, 1e-6);
    EXPECT_EQ(moved.anchors, 20U);
}

TEST(ClockAlignment, RanksWithoutACommonCollectiveAreNotRelated) {
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file("rank0.json"), "[" + device("kernel", "gemm", 0, 5) + "]");
    test::writeBytes(folder.file("rank1.json"), "[" + device("kernel", "gemm", 9, 5) + "]");
    const std::vector<std::filesystem::path> files = {folder.file("rank0.json"),
                                                      folder.file("rank1.json")};
    EXPECT_FALSE(alignClocks(annotatedFiles(files)));
    const auto imported = importers::importTraces(files);
    ASSERT_TRUE(imported);
    EXPECT_EQ(countOf(annotateOnOneClock(*imported).value(), "clock_unknown"), 1);
}

// bad-inputs 47
TEST(SeveralFiles, RanksComeFromTheFileItsNameOrTheCallerAndAreNeverTwice) {
    const test::TemporaryFolder folder;
    const std::string plain = "[" + device("kernel", "gemm", 0, 5) + "]";
    test::writeBytes(folder.file("trace_rank_3.json"), plain);
    test::writeBytes(folder.file("b.json"), plain);
    test::writeBytes(folder.file("c.json"),
                     R"({"traceEvents":)" + plain + R"(,"distributedInfo":{"rank":3}})");
    const auto import = [&](std::vector<std::filesystem::path> files,
                            importers::ImportOptions options = {}) {
        return importers::importTraces(files, options);
    };
    const auto unnumbered = import({folder.file("trace_rank_3.json"), folder.file("b.json")});
    ASSERT_FALSE(unnumbered.ok());
    ASSERT_TRUE(unnumbered.error().advice);
    EXPECT_EQ(unnumbered.error().advice->setting, base::Advice::Setting::RankNumbers);
    EXPECT_EQ(unnumbered.error().advice->value, folder.file("b.json").string() + "=N");
    EXPECT_NE(
        importers::messageOf(import({folder.file("trace_rank_3.json"), folder.file("c.json")}))
            .find("holds rank 3, and so does"),
        std::string::npos);
    importers::ImportOptions options;
    options.ranks[folder.file("b.json")] = {5};
    const auto both = import({folder.file("trace_rank_3.json"), folder.file("b.json")}, options);
    ASSERT_TRUE(both) << importers::messageOf(both);
    EXPECT_EQ(both->ranks()[trace::RankId(0)].number, 3);
    EXPECT_EQ(both->ranks()[trace::RankId(1)].number, 5);
    EXPECT_TRUE(importers::messageOf(import({folder.file("b.json")})).empty());
    EXPECT_NE(importers::messageOf(
                  importers::importTraces(std::vector<std::filesystem::path>{folder.file("none")}))
                  .find("none"),
              std::string::npos);
}

// Two ranks with equal correlation and process ids: nothing crosses from one to the other.
TEST(SeveralFiles, EachThatIsCutOffIsSaid) {
    const test::TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
    for (const char* name : {"rank0.json", "rank1.json"}) {
        files.push_back(folder.file(name));
        test::writeBytes(files.back(), "[" + device("kernel", "gemm", 0, 5) + ",");
    }
    const auto imported = importers::importTraces(files);
    ASSERT_TRUE(imported) << importers::messageOf(imported);
    EXPECT_EQ(countOf(*imported, "truncated"), 2);
}

TEST(SeveralFiles, NamesSayWhereRanksLie) {
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file("temp9_rank1-dp0_PP-3.json"),
                     "[" + device("kernel", "gemm", 0, 5) + "]");
    const std::vector<std::filesystem::path> files = {folder.file("temp9_rank1-dp0_PP-3.json")};
    const auto imported = importers::importTraces(files);
    ASSERT_TRUE(imported) << importers::messageOf(imported);
    const trace::Rank& rank = imported->ranks()[trace::RankId(0)];
    EXPECT_EQ(rank.number, 1);
    EXPECT_EQ(rank.coordinates, (trace::Coordinates{0, 3, -1, -1, -1}));
    EXPECT_EQ(countOf(*imported, "coordinates_guessed"), 2);
}

// bad-inputs 24
TEST(SeveralFiles, IdsOfDifferentProcessesAreNeverConnected) {
    const test::TemporaryFolder folder;
    for (const int rank : {0, 1}) {
        test::writeBytes(
            folder.file(fmt::format("rank{}.json", rank)),
            "[" + host("cuda_runtime", "cudaLaunchKernel", 5, 1, R"({"correlation":7})") + "," +
                device("kernel", "gemm", 10, 5, R"({"correlation":7})") + "]");
    }
    const auto trace = importers::importTraces(
        std::vector<std::filesystem::path>{folder.file("rank0.json"), folder.file("rank1.json")});
    ASSERT_TRUE(trace) << importers::messageOf(trace);
    ASSERT_EQ(trace->dependencies().size(), 2U);
    for (const trace::Dependency& dependency : trace->dependencies()) {
        EXPECT_EQ(trace->lanes()[trace->event(dependency.from).lane].rank,
                  trace->lanes()[trace->event(dependency.to).lane].rank);
    }
}

}  // namespace
}  // namespace pleat::annotate
