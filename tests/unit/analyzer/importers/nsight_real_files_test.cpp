// Exports of other people's runs, read where they lie; counts were taken from them with SQL.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "unit/analyzer/importers/imported_trace.h"

namespace pleat::importers {
namespace {

using test::ImportedTrace;

class NsightRealFile : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::is_directory(m_folder))
            GTEST_SKIP() << m_folder << " is absent: other people's traces are not in the project";
    }
    [[nodiscard]] ImportedTrace import(const std::string& name) const {
        EXPECT_TRUE(isNsightExport(m_folder / name));
        return ImportedTrace::ofNsight(m_folder / name);
    }
    // Prints what an import found when a test fails.
    static std::string summary(const ImportedTrace& trace) {
        std::string text =
            fmt::format("{} events, {} ranks, {} lanes, {} dependencies\n",
                        trace.trace().eventCount(), trace.trace().ranks().size(),
                        trace.trace().lanes().size(), trace.trace().dependencies().size());
        for (const base::Diagnostic& entry : trace.trace().diagnostics().entries())
            text += fmt::format("{} {} {}: {}\n", base::toString(entry.severity), entry.code,
                                entry.count, entry.example);
        return text;
    }
    // Kernels without a launch; each has at most one, of its own process.
    static std::int64_t unlaunchedKernels(const ImportedTrace& trace) {
        std::int64_t unlaunched = 0;
        for (const trace::EventId kernel : trace.events("kernel")) {
            const auto launches = trace.trace().dependenciesOf(kernel);
            EXPECT_LE(launches.size(), 1U);
            unlaunched += launches.empty() ? 1 : 0;
            for (const trace::Dependency& launch : launches)
                EXPECT_EQ(trace.laneOf(launch.from).rank, trace.laneOf(kernel).rank);
        }
        return unlaunched;
    }

    std::filesystem::path m_folder =
        std::filesystem::path(PLEAT_SOURCE_DIR).parent_path() / "shared" / "traces" / "nsys";
};

TEST_F(NsightRealFile, TwoTrainingProcesses) {
    const ImportedTrace trace = import("mfu_2gpu_before.sqlite");
    SCOPED_TRACE(summary(trace));
    EXPECT_EQ(trace.trace().eventCount(), 4010U + 1020 + 269 + 366 + 7466 + 19118);
    ASSERT_EQ(trace.trace().ranks().size(), 2U);
    for (const trace::Rank& rank : trace.trace().ranks()) {
        EXPECT_EQ(rank.device, rank.pid == 144 ? "cuda:0" : "cuda:1");
        EXPECT_EQ(rank.host, "modal");
        EXPECT_EQ(rank.program, "python3");
    }
    std::size_t sendReceive = 0;
    for (const trace::EventId kernel : trace.events("kernel")) {
        if (trace.trace().name(kernel).find("SendRecv") == std::string_view::npos) continue;
        ++sendReceive;
        EXPECT_TRUE(trace.trace().arguments(kernel).starts_with("{\"correlation\":"));
    }
    EXPECT_EQ(sendReceive, 66U);
    EXPECT_EQ(unlaunchedKernels(trace), 24);
    EXPECT_EQ(trace.count("work_without_launch"), 24 + 5 + 2);
    EXPECT_EQ(trace.count("launch_without_work"), 20);
    EXPECT_EQ(trace.events("NCCL").size(), 462U);
    EXPECT_EQ(trace.count("nccl_payload_missing"), 462);
    EXPECT_EQ(trace.count("duplicate_row"), 0);
}

TEST_F(NsightRealFile, HalfOfTheKernelsHaveNoLaunch) {
    const ImportedTrace trace = import("h100_2gpu_1s.sqlite");
    SCOPED_TRACE(summary(trace));
    EXPECT_EQ(trace.events("kernel").size(), 3442U);
    EXPECT_EQ(unlaunchedKernels(trace), 1810);
    EXPECT_EQ(trace.count("work_without_launch"), 1810 + 466);
    EXPECT_EQ(trace.count("launch_without_work"), 1714);
    for (const trace::EventId wait : trace.events("cuda_sync")) {
        const std::string device = trace.rankOf(wait).device;
        EXPECT_TRUE(trace.laneOf(wait).name.starts_with(device)) << trace.laneOf(wait).name;
    }
}

TEST_F(NsightRealFile, WithoutMarkers) {
    const ImportedTrace trace = import("mock.sqlite");
    SCOPED_TRACE(summary(trace));
    EXPECT_EQ(trace.count("section_missing_nvtx"), 1);
    EXPECT_EQ(trace.events("kernel").size(), 2U);
    EXPECT_EQ(unlaunchedKernels(trace), 0);
    EXPECT_EQ(trace.rankOf(trace.events("kernel")[0]).program, "python");
}

TEST_F(NsightRealFile, GraphsRecordedAsAWhole) {
    const ImportedTrace trace = import("graph_trace_2025.5.2.sqlite");
    SCOPED_TRACE(summary(trace));
    const auto graphs = trace.events("gpu_graph");
    ASSERT_EQ(graphs.size(), 2U);
    for (const trace::EventId graph : graphs) {
        EXPECT_EQ(trace.launchesOf(graph), std::vector<std::string>{"cudaGraphLaunch_v10000"});
        EXPECT_EQ(trace.laneOf(graph).name, "cuda:0 stream 13 (NVIDIA GeForce RTX 3060)");
    }
    EXPECT_EQ(trace.trace().event(graphs[0]).span.length().ns, 339412132 - 339410404);
    EXPECT_EQ(trace.count("graph_as_whole"), 2);
    EXPECT_EQ(trace.count("launch_without_work"), 1) << "the one captured into the graph";
    EXPECT_EQ(trace.count("section_missing_nvtx"), 1);
}

}  // namespace
}  // namespace pleat::importers
