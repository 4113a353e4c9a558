// Files of several ranks, hosts and devices as one run: which clock times are on, which number a
// rank has, which device did what, and what is then said of who waited for whom.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "analysis/run_info.h"
#include "opening/open_trace.h"
#include "report/chrome_trace.h"
#include "report/info_report.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "unit/analyzer/nsight_export.h"

namespace pleat {
namespace {

namespace fs = std::filesystem;
using analysis::RunAnalysis;
using test::NsightExport;

constexpr std::int64_t kUtc_ns = 1'728'461'110'000'000'000;
constexpr std::int64_t kMs = 1'000'000;

class SeveralNodes : public ::testing::Test {
  protected:
    base::Result<trace::Trace> open(const std::vector<fs::path>& files,
                                    const std::vector<std::string>& ranks = {}) {
        opening::OpenRequest request{files, {}, {}};
        for (const std::string& given : ranks) EXPECT_TRUE(request.addRank(given).ok()) << given;
        auto opened = opening::openTrace(request);
        if (!opened) return opened.error();
        return std::move(opened->trace);
    }
    RunAnalysis analysed(const std::vector<fs::path>& files,
                         const std::vector<std::string>& ranks = {}) {
        const auto trace = open(files, ranks);
        EXPECT_TRUE(trace.ok()) << (trace ? "" : trace.error().message);
        if (!trace) return {};
        const auto analysis = analysis::analyseRun(*trace, {});
        EXPECT_TRUE(analysis.ok());
        return analysis ? *analysis : RunAnalysis();
    }
    // "0 for 1: 30000000", and "-1" for nobody, in order of ranks.
    static std::vector<std::string> waits(const RunAnalysis& analysis) {
        std::vector<std::string> all;
        for (const analysis::RankSummary& rank : analysis.ranks) {
            for (const analysis::WaitSummary& wait : rank.waits)
                all.push_back(
                    fmt::format("{} for {}: {}", rank.number, wait.lateRank, wait.duration.ns));
        }
        return all;
    }
    static std::int64_t count(const RunAnalysis& analysis, std::string_view code) {
        const base::Diagnostic* found = analysis.diagnostics.find(code);
        return found == nullptr ? 0 : found->count;
    }
    static std::vector<std::int32_t> numbers(const trace::Trace& trace) {
        std::vector<std::int32_t> all;
        for (const trace::Rank& rank : trace.ranks()) all.push_back(rank.number);
        return all;
    }
    std::string messageOf(const base::Result<trace::Trace>& trace) {
        return trace ? std::string() : trace.error().message;
    }

    // A process that computes until `ready_ns` and then joins an all-reduce that ends at `end_ns`.
    NsightExport& step(NsightExport& file, std::int64_t origin_ns, std::int64_t pid, int device,
                       std::int64_t ready_ns, std::int64_t end_ns,
                       int collective = NsightExport::kTree) {
        return file.kernel(pid, device, origin_ns, origin_ns + ready_ns)
            .kernel(pid, device, origin_ns + ready_ns, origin_ns + end_ns, collective);
    }

    const test::TemporaryFolder m_folder;
    const fs::path m_faults = fs::path(PLEAT_SOURCE_DIR) / "../shared/traces/faults";
};

#define SKIP_WITHOUT(file) \
    if (!fs::exists(file)) GTEST_SKIP() << (file) << " is not at hand"

TEST_F(SeveralNodes, ExportsOnUtcOfOneHostTellWhoWaitedForWhom) {
    SKIP_WITHOUT(m_faults / "rank0_utc.sqlite");
    const RunAnalysis analysis =
        analysed({m_faults / "rank0_utc.sqlite", m_faults / "rank1_utc.sqlite"});
    EXPECT_EQ(waits(analysis), std::vector<std::string>{"0 for 1: 30000000"});
    EXPECT_EQ(analysis.iterations.median.ns, 94'990'000);
    EXPECT_EQ(count(analysis, "clock_unknown"), 0);
    EXPECT_EQ(count(analysis, "clock_disagrees"), 0);
    EXPECT_EQ(count(analysis, "clock_shared"), 1);
    EXPECT_NE(report::renderText(analysis).find("rank 0 waited 30.000 ms for rank 1"),
              std::string::npos)
        << report::renderText(analysis);
}

TEST_F(SeveralNodes, CollectivesOfWhichOnlySomeMembersWereRecordedAlignClocks) {
    SKIP_WITHOUT(m_faults / "subset_of_ranks");
    const RunAnalysis analysis = analysed({m_faults / "subset_of_ranks"});
    EXPECT_EQ(waits(analysis), std::vector<std::string>{"0 for 39: 900000"}) << "0.3 ms each";
    EXPECT_EQ(count(analysis, "clock_unknown"), 0);
    EXPECT_EQ(count(analysis, "clock_disagrees"), 0);
    EXPECT_NE(report::renderText(analysis).find("rank 0 waited 0.900 ms for rank 39"),
              std::string::npos);
}

TEST_F(SeveralNodes, OneProcessWithTwoDevicesIsAccountedDeviceByDevice) {
    SKIP_WITHOUT(m_faults / "one_process_two_gpus.json");
    const auto trace = open({m_faults / "one_process_two_gpus.json"});
    ASSERT_TRUE(trace.ok());
    const RunAnalysis analysis = *analysis::analyseRun(*trace, {});
    ASSERT_EQ(analysis.ranks.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(analysis.ranks[i].number, 0);
        EXPECT_EQ(analysis.ranks[i].device, fmt::format("cuda:{}", i));
        EXPECT_EQ(analysis.ranks[i].time[analysis::TimePart::Compute].ns, 40 * kMs);
        EXPECT_EQ(analysis.ranks[i].time.total().ns, 100 * kMs);
    }
    const std::string text = report::renderText(analysis);
    EXPECT_NE(text.find("   0  -  - cuda:0    40.0%   40.000"), std::string::npos) << text;
    EXPECT_NE(text.find("   0  -  - cuda:1    40.0%   40.000"), std::string::npos) << text;
    EXPECT_NE(report::renderJson(analysis).find("\"device\": \"cuda:1\""), std::string::npos);
    std::string exported;
    const auto collect = [&](std::string_view more) {
        return exported += more, base::Result<void>();
    };
    ASSERT_TRUE(report::writeChromeTrace(*trace, {}, collect).ok());
    test::writeBytes(m_folder.file("again.json"), exported);
    const RunAnalysis again = analysed({m_folder.file("again.json")});
    ASSERT_EQ(again.ranks.size(), 2U);
    EXPECT_EQ(again.ranks[1].number, 0);
    EXPECT_EQ(again.ranks[1].device, "cuda:1");
    const std::string info = report::renderText(analysis::describeRun(*trace));
    EXPECT_NE(info.find("\n1 rank on 2 devices, 1 process, 3 lanes"), std::string::npos) << info;
    EXPECT_EQ(trace::rankTitle(trace->ranks()[trace::RankId(1)]), "rank 0 cuda:1");
    analysis::RunAnalysis waits = again;
    waits.ranks[0].waits = {{0, "cuda:1", trace::Dimension::Dp, {2'000'000}}};
    EXPECT_NE(report::renderText(waits).find("rank 0 (cuda:0) waited 2.000 ms for rank 0 (cuda:1)"),
              std::string::npos);
}

TEST_F(SeveralNodes, DevicesOfOneProcessStayApartThroughAFile) {
    NsightExport file(m_folder.file("two.sqlite"));
    file.kernel(10, 0, 1'000'000, 2'000'000)
        .kernel(10, 1, 2'000'000, 4'000'000)
        .kernel(10, 2, 2'000'000, 2'000'100);  // hardly anything
    const auto trace = open({file.write()});
    ASSERT_TRUE(trace.ok()) << messageOf(trace);
    ASSERT_EQ(trace->ranks().size(), 2U);
    EXPECT_NE(trace->diagnostics().find("device_with_little_work"), nullptr);
    ASSERT_TRUE(store::writeTrace(*trace, m_folder.file("two.pleat")).ok());
    const auto again = open({m_folder.file("two.pleat")});
    ASSERT_TRUE(again.ok());
    for (const auto* one : {&*trace, &*again}) {
        EXPECT_TRUE(one->ranks()[trace::RankId(1)].oneOfSeveralDevices);
        EXPECT_EQ(trace::rankTitle(one->ranks()[trace::RankId(1)]), "rank 0 cuda:1");
        const RunAnalysis analysis = *analysis::analyseRun(*one, {});
        ASSERT_EQ(analysis.ranks.size(), 2U);
        EXPECT_EQ(analysis.ranks[0].time[analysis::TimePart::Compute].ns,
                  1'000'100);  // with what cuda:2 did beside it
        EXPECT_EQ(analysis.ranks[1].time[analysis::TimePart::Compute].ns, 2'000'000);
    }
}

TEST_F(SeveralNodes, ATaskRanOnTheDeviceOfItsWork) {
    std::string text = R"({"distributedInfo": {"rank": 3}, "traceEvents": [)";
    for (int stage = 0; stage < 2; ++stage) {
        text += fmt::format(
            R"({{"ph":"X","cat":"user_annotation","name":"PP:{0}F0","pid":9,"tid":1,"ts":{1},"dur":50}},)"
            R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":{2},"dur":5,"args":{{"correlation":1{0}7}}}},)"
            R"({{"ph":"X","cat":"kernel","name":"gemm","pid":{0},"tid":7,"ts":{3},"dur":800,"args":{{"correlation":1{0}7}}}}{4})",
            stage, 100 + 100 * stage, 110 + 100 * stage, 200 + 1000 * stage,
            stage == 0 ? "," : "]}");
    }
    const fs::path file = m_folder.file("one.json");
    test::writeBytes(file, text);
    const auto trace = open({file});
    ASSERT_TRUE(trace.ok()) << messageOf(trace);
    ASSERT_EQ(trace->annotations().tasks.size(), 2U);
    for (const trace::Task& task : trace->annotations().tasks) {
        EXPECT_EQ(trace->ranks()[task.rank].number, 3);
        EXPECT_EQ(trace->ranks()[task.rank].device, fmt::format("cuda:{}", task.stage));
        EXPECT_EQ(task.span.length().ns, 800'000);
    }
    EXPECT_EQ(trace->diagnostics().find("duplicate_rank"), nullptr);
}

// Two nodes with two ranks each, whose processes see their devices as 0 and 1; the second node's
// clock is 8 ms ahead, which the ring's common end shows.
TEST_F(SeveralNodes, ExportsOfTwoNodesAreOneRunOfFourRanks) {
    std::vector<fs::path> files;
    for (int node = 0; node < 2; ++node) {
        NsightExport file(m_folder.file(fmt::format("node{}.sqlite", node)));
        const std::int64_t begin_ns = 500 * kMs;  // in the session
        file.host(fmt::format("node{}", node))
            .sessionStart(kUtc_ns + node * 8 * kMs)             // as the node's own clock has it
            .kernel(90 + node, 0, begin_ns, begin_ns + 1'000);  // loads data
        for (int local = 0; local < 2; ++local) {
            const int rank = 2 * node + local;
            for (int i = 0; i < 3; ++i)
                step(file, begin_ns + i * 40 * kMs, 100 + local, local, (10 + rank) * kMs, 20 * kMs,
                     NsightExport::kRing);
        }
        files.push_back(file.write());
    }
    for (const bool swapped : {false, true}) {
        if (swapped) std::swap(files[0], files[1]);
        const RunAnalysis analysis = analysed(files);
        ASSERT_EQ(analysis.ranks.size(), 4U);
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(analysis.ranks[i].number, static_cast<std::int32_t>(i));
            EXPECT_EQ(analysis.ranks[i].time[analysis::TimePart::Compute].ns,
                      3 * (10 + static_cast<std::int64_t>(i)) * kMs);
        }
        EXPECT_EQ(waits(analysis), (std::vector<std::string>{"0 for 3: 9000000", "1 for 3: 6000000",
                                                             "2 for 3: 3000000"}));
        EXPECT_EQ(count(analysis, "rank_guessed"), 4);
        EXPECT_EQ(count(analysis, "clock_bound"), 1);
    }
}

TEST_F(SeveralNodes, OfHostsRelatedByUtcAloneOnlyALongWaitIsBlamedOnSomebody) {
    for (const std::int64_t wait_ms : {30, 120}) {
        std::vector<fs::path> files;
        for (int rank = 0; rank < 2; ++rank) {
            NsightExport file(m_folder.file(fmt::format("{}ms_rank{}.sqlite", wait_ms, rank)));
            file.host(fmt::format("node{}", rank));
            step(file, kUtc_ns, 100, 0, (10 + rank * wait_ms) * kMs, (20 + wait_ms) * kMs);
            files.push_back(file.write());
        }
        const RunAnalysis analysis = analysed(files);
        EXPECT_EQ(waits(analysis), std::vector<std::string>{fmt::format(
                                       "0 for {}: {}", wait_ms < 50 ? -1 : 1, wait_ms * kMs)});
        EXPECT_EQ(count(analysis, "clock_unknown"), 0);
        EXPECT_EQ(count(analysis, "late_peer_unsure") > 0, wait_ms < 50);
    }
}

// One host, but the sessions began 3 s apart: only their starts tell.
TEST_F(SeveralNodes, TimesOfASessionCountFromItsStart) {
    std::vector<fs::path> files;
    for (int rank = 0; rank < 2; ++rank) {
        NsightExport file(m_folder.file(fmt::format("rank{}.sqlite", rank)));
        file.host("node").sessionStart(kUtc_ns + rank * 3'000 * kMs);
        step(file, (5'000 - rank * 3'000) * kMs, 100 + rank, 0, (10 + rank * 2) * kMs, 20 * kMs);
        files.push_back(file.write());
    }
    const RunAnalysis analysis = analysed(files);
    EXPECT_EQ(waits(analysis), std::vector<std::string>{"0 for 1: 2000000"});
    EXPECT_EQ(count(analysis, "clock_bound"), 0) << "one clock has no bound";
}

// The name of a container's image is not a host: one id cannot be two processes of one host.
TEST_F(SeveralNodes, ANameAloneDoesNotMakeAHost) {
    struct Case {
        std::int64_t pid;                // of the second file; the first has 100
        const char *uuid, *systemClock;  // of the second; the first has a and 5000000000
        bool oneClock;
    };
    int number = 0;
    for (const Case& one :
         {Case{100, "a", "NULL", true}, Case{101, "b", "NULL", false}, Case{101, "", "NULL", true},
          Case{100, "", "NULL", false}, Case{100, "b", "5000001000", true},
          Case{101, "a", "9000000000", false}}) {
        std::vector<fs::path> files;
        ++number;
        for (int rank = 0; rank < 2; ++rank) {
            NsightExport file(m_folder.file(fmt::format("case{}_rank{}.sqlite", number, rank)));
            const std::string uuid = rank == 0 ? "a" : one.uuid;
            file.host("container")
                .sessionStart(kUtc_ns, rank == 0 ? "5000000000" : one.systemClock);
            if (!uuid.empty()) file.gpu(0, uuid);
            step(file, kUtc_ns, rank == 0 ? 100 : one.pid, 0, (10 + rank * 2) * kMs, 20 * kMs);
            files.push_back(file.write());
        }
        EXPECT_EQ(waits(analysed(files)),
                  std::vector<std::string>{fmt::format("0 for {}: 2000000", one.oneClock ? 1 : -1)})
            << "case " << number;
    }
}

// Where the ends of rings show that one name stood for two clocks, they are taken apart.
TEST_F(SeveralNodes, CollectivesOutweighAHostsName) {
    std::vector<fs::path> files;
    for (int rank = 0; rank < 2; ++rank) {
        NsightExport file(m_folder.file(fmt::format("rank{}.sqlite", rank)));
        file.host("container").sessionStart(kUtc_ns);
        for (int i = 0; i < 4; ++i)
            step(file, (500 + i * 40 + rank * 7) * kMs, 100 + rank, 0, (10 + rank) * kMs, 20 * kMs,
                 NsightExport::kRing);
        files.push_back(file.write());
    }
    const RunAnalysis analysis = analysed(files);
    EXPECT_EQ(waits(analysis), std::vector<std::string>{"0 for 1: 4000000"});
    EXPECT_EQ(count(analysis, "clock_not_shared"), 1);
}

// A profiler's file: one kernel of compute, then a tree all-reduce.
std::string profiled(int rank, const std::string& members, std::int64_t begin_us,
                     std::int64_t ready_us, std::int64_t end_us) {
    return fmt::format(
        R"({{{0}"distributedInfo":{{"rank":{1}}},"traceEvents":[)"
        R"({{"ph":"X","cat":"cpu_op","name":"op","pid":7{1},"tid":1,"ts":{2},"dur":5}},)"
        R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{2},"dur":{3}}},)"
        R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_TREE_LL","pid":0,"tid":7,"ts":{4},"dur":{5}}}]}})",
        members, rank, begin_us, ready_us, begin_us + ready_us, end_us - ready_us);
}

TEST_F(SeveralNodes, ProfilersThatNameTheirBaseAreOnUtc) {
    const std::string base = R"("baseTimeNanoseconds":1719853884000000000,)";
    const std::string host = R"("host_name":"node",)";
    struct Case {
        std::string first, second;
        std::int64_t secondBegin_us;
        int blamed;
        bool unknown;
    };
    const std::int64_t far_us = 1'212'075'548'353;
    for (const Case& one : {
             Case{base + host, base + host, far_us, 1, false},
             Case{base + host, "", 1'719'853'884'000'000 + far_us, -1, false},  // absolute, no host
             Case{base, "", far_us, -1, false},  // lost its base: surely the same
             Case{base, "", 1'000, -1, true},    // counts from a moment of its own
         }) {
        test::writeBytes(m_folder.file("rank0.json"), profiled(0, one.first, far_us, 100, 30'200));
        test::writeBytes(m_folder.file("rank1.json"),
                         profiled(1, one.second, one.secondBegin_us, 20'100, 30'200));
        const RunAnalysis analysis =
            analysed({m_folder.file("rank0.json"), m_folder.file("rank1.json")});
        EXPECT_EQ(count(analysis, "clock_unknown") > 0, one.unknown) << one.second;
        EXPECT_EQ(waits(analysis),
                  std::vector<std::string>{fmt::format("0 for {}: 20000000", one.blamed)})
            << one.second;
    }
}

// PyTorch's trace handler names files by host and process.
TEST_F(SeveralNodes, AHostMayStandInAFilesName) {
    const std::int64_t now_us = 1'719'853'884'000'000;
    for (const bool fits : {true, false}) {
        std::vector<fs::path> files;
        for (int rank = 0; rank < 2; ++rank) {
            files.push_back(m_folder.file(
                fmt::format("node_a_{}{}.17198538{}.pt.trace.json", fits ? 7 : 8, rank, rank)));
            test::writeBytes(files.back(), profiled(rank, "", now_us, 100 + rank * 20'000, 30'200));
        }
        EXPECT_EQ(waits(analysed(files)),
                  std::vector<std::string>{fmt::format("0 for {}: 20000000", fits ? 1 : -1)});
    }
}

TEST_F(SeveralNodes, RanksThatAllSeeDeviceZeroAreNumberedByProcess) {
    NsightExport file(m_folder.file("masked.sqlite"));
    for (const int pid : {203, 201, 204, 202})  // in the order in which they began
        file.kernel(pid, 0, 1'000'000 + pid, 2'000'000);
    const auto trace = open({file.write()});
    ASSERT_TRUE(trace.ok()) << messageOf(trace);
    ASSERT_EQ(trace->ranks().size(), 4U);
    for (const trace::Rank& rank : trace->ranks())
        EXPECT_EQ(rank.number, static_cast<std::int32_t>(rank.pid - 201));
    EXPECT_EQ(trace->diagnostics().find("rank_guessed")->count, 4);
}

TEST_F(SeveralNodes, RecordedRanksComeBeforeGuesses) {
    NsightExport mpi(m_folder.file("mpi.sqlite"));
    mpi.kernel(10, 0, 1'000'000, 2'000'000).kernel(11, 1, 1'000'000, 2'000'000);
    mpi.sql("CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER)");
    for (const int pid : {10, 11})
        mpi.sql(fmt::format("INSERT INTO MPI_RANKS VALUES ({},{})",
                            (std::int64_t{1} << 48) + pid * 0x1000000 + pid, 15 - pid));
    EXPECT_EQ(numbers(*open({mpi.write()})), (std::vector<std::int32_t>{5, 4}));

    NsightExport slurm(m_folder.file("slurm.sqlite"));
    slurm.variable("SLURM_PROCID=\"6\"").kernel(10, 0, 1'000'000, 2'000'000);
    EXPECT_EQ(numbers(*open({slurm.write()})), std::vector<std::int32_t>{6});

    NsightExport nccl(m_folder.file("nccl.sqlite"));
    for (const int pid : {10, 11}) {
        nccl.kernel(pid, pid - 10, 1'000'000, 2'000'000)
            .range(
                pid, 100, 200, "ncclCommInitRank",
                fmt::format(
                    R"({{"NCCL communicator ID":99,"No. of ranks":2,"Rank":{},"CUDA device":0}})",
                    11 - pid))
            .range(pid, 300, 400, "ncclCommInitRank",
                   R"({"NCCL communicator ID":5,"No. of ranks":1,"Rank":0,"CUDA device":0})");
    }
    const auto trace = open({nccl.write()});
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ(numbers(*trace), (std::vector<std::int32_t>{1, 0}));
    EXPECT_EQ(trace->diagnostics().find("rank_of_communicator")->count, 2);

    NsightExport named(m_folder.file("named.sqlite"));
    named.kernel(10, 0, 1'000'000, 2'000'000).kernel(11, 1, 1'000'000, 2'000'000);
    named.range(10, 100, 200, "rank 9")
        .range(11, 100, 200, "rank=8")
        .range(11, 300, 400, "rank 1b");
    EXPECT_EQ(numbers(*open({named.write()})), (std::vector<std::int32_t>{9, 8}));
}

TEST_F(SeveralNodes, HelpersAreNoRanks) {
    NsightExport file(m_folder.file("helpers.sqlite"));
    file.range(5, 100, 900'000, "loads data")  // no device work
        .kernel(6, 0, 1'000'000, 1'000'500)    // a context and hardly a kernel
        .kernel(10, 0, 1'000'000, 2'000'000)
        .kernel(11, 1, 1'000'000, 2'000'000);
    const auto trace = open({file.write()});
    ASSERT_TRUE(trace.ok());
    for (const trace::Rank& rank : trace->ranks())
        EXPECT_EQ(rank.number, rank.pid >= 10 ? rank.pid - 10 : -1) << rank.pid;
}

TEST_F(SeveralNodes, WhoeverKnowsTheRanksBetterSaysSo) {
    std::vector<fs::path> files;
    for (const char* name : {"first.sqlite", "second.sqlite"}) {
        NsightExport file(m_folder.file(name));
        for (const int local : {0, 1}) file.kernel(100 + local, local, 1'000'000, 2'000'000);
        files.push_back(file.write());
    }
    const auto rank = [&](std::size_t file, const char* numbers) {
        return files[file].string() + "=" + numbers;
    };
    EXPECT_EQ(numbers(*open(files)), (std::vector<std::int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(numbers(*open(files, {rank(0, "2"), rank(1, "0")})),
              (std::vector<std::int32_t>{2, 3, 0, 1}));
    EXPECT_EQ(numbers(*open(files, {rank(0, "7,5")})), (std::vector<std::int32_t>{7, 5, 0, 1}));
    EXPECT_NE(
        messageOf(open(files, {rank(0, "7,5,6")})).find("has 2 ranks, but 3 numbers are given"),
        std::string::npos);
    const std::string twice = messageOf(open(files, {rank(0, "1"), rank(1, "2")}));
    EXPECT_NE(twice.find(files[0].string()), std::string::npos) << twice;
    EXPECT_NE(twice.find(files[1].string()), std::string::npos) << twice;
    EXPECT_NE(twice.find("its first rank (N) or by all (4,5,6,7)"), std::string::npos) << twice;
    opening::OpenRequest request;
    for (const char* wrong : {"a=", "a=1,", "a=,1", "a=1,-2", "a=1;2", "a"})
        EXPECT_FALSE(request.addRank(wrong).ok()) << wrong;
}

TEST_F(SeveralNodes, AllFilesWithoutARankAreNamedAtOnce) {
    for (const char* name : {"a.json", "b.json", "c.json"}) {
        test::writeBytes(
            m_folder.file(name),
            R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":1,"ts":1,"dur":1}]})");
    }
    const std::string message =
        messageOf(open({m_folder.file("a.json"), m_folder.file("b.json"), m_folder.file("c.json")},
                       {m_folder.file("b.json").string() + "=0"}));
    EXPECT_TRUE(message.starts_with(m_folder.file("a.json").string() + " and " +
                                    m_folder.file("c.json").string() + ": neither the files"))
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace pleat
