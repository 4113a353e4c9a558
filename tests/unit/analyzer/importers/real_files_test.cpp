// Traces that other people recorded, read in place; skipped where they are not beside the checkout.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "trace/categories.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::importers {
namespace {

struct Expected {
    const char* file;
    std::size_t events, ranks, launches;
};

TEST(RealFiles, KinetoFilesHoldWhatTheyHold) {
    SKIP_WITHOUT_SHARED_TRACES();
    const Expected all[] = {
        {"control_rank3_of_8", 74'939, 1, 0},  {"cp_alexnet", 870, 1, 0},
        {"cp_event_sync", 35, 1, 0},           {"cp_simple_add", 840, 1, 0},
        {"cpu_only_rank34", 18, 1, 0},         {"large_216k_events", 151'391, 1, 0},
        {"nccl_rank0_of_2", 26'935, 1, 0},     {"no_distributed_info", 2'467, 1, 0},
        {"ns_resolution", 45'422, 1, 0},       {"sampled_rank0", 4'811, 1, 0},
        {"sendrecv_rank0_of_16", 67'219, 1, 0}};
    for (const Expected& expected : all) {
        const auto trace =
            importFile(sharedTraces() / "kineto" / (std::string(expected.file) + ".json.gz"));
        ASSERT_TRUE(trace) << messageOf(trace);
        EXPECT_EQ(trace->eventCount(), expected.events) << expected.file;
        EXPECT_EQ(trace->ranks().size(), expected.ranks) << expected.file;
        EXPECT_EQ(countOf(*trace, "damaged_event"), 0) << expected.file;
    }
}

TEST(RealFiles, AMemoryTimelineIsRefused) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto trace =
        importFile(sharedTraces() / "kineto" / "not_a_trace_memory_timeline.json.gz");
    EXPECT_NE(messageOf(trace).find("memory timeline"), std::string::npos);
}

// Each device event has at most one launch, and all launches are host calls of its rank.
TEST(RealFiles, EightRanksCountTheirWorkWithoutLaunch) {
    SKIP_WITHOUT_SHARED_TRACES();
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < 8; ++i) {
        files.push_back(sharedTraces() / "dlrm_8rank" / fmt::format("rank{}.pt.trace.json.gz", i));
    }
    const auto trace = importTraces(files);
    ASSERT_TRUE(trace) << messageOf(trace);
    EXPECT_EQ(trace->ranks().size(), 8U);
    EXPECT_EQ(countOf(*trace, "work_without_launch"), 128);
    for (std::size_t i = 0; i < trace->eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        if (!trace::categories::isDeviceWork(trace->domain(id))) continue;
        const auto launches = trace->dependenciesOf(id);
        ASSERT_LE(launches.size(), 1U);
        if (launches.empty()) continue;
        EXPECT_EQ(trace->lanes()[trace->event(launches[0].from).lane].rank,
                  trace->lanes()[trace->event(id).lane].rank);
    }
}

// Rows of the expected files: "ts","dur","name" in some order; dur -1: never ended.
std::vector<std::vector<std::string>> expectedRows(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(stream, line);) {
        std::vector<std::string> cells;
        std::stringstream cellStream(
            line.substr(std::min(line.find_first_not_of(' '), line.size())));
        for (std::string cell; std::getline(cellStream, cell, ',');) {
            if (cell.size() >= 2 && cell.front() == '"') cell = cell.substr(1, cell.size() - 2);
            cells.push_back(cell);
        }
        if (!cells.empty()) rows.push_back(cells);
    }
    return rows;
}

std::size_t columnOf(const std::vector<std::string>& header, std::string_view name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

TEST(RealFiles, PerfettosExpectedSlicesAreOurs) {
    SKIP_WITHOUT_SHARED_TRACES();
    int compared = 0;
    for (const char* name :
         {"test_json_flow", "test_json_id2_global_string_id", "test_json_id2_local_int_id",
          "test_json_metadata", "test_json_pid_tid_zero", "test_json_trailing_comma",
          "test_string_pid_tid", "test_string_ts_and_dur", "test_string_tts_and_tdur"}) {
        const auto folder = sharedTraces() / "json_cases" / "perfetto";
        const auto rows = expectedRows(folder / fmt::format("{}.expected.csv", name));
        ASSERT_GE(rows.size(), 2U) << name;
        const std::size_t ts = columnOf(rows[0], "ts"), dur = columnOf(rows[0], "dur"),
                          event = columnOf(rows[0], "name");
        const auto trace = importFile(folder / fmt::format("{}.json", name));
        ASSERT_TRUE(trace) << messageOf(trace);
        std::vector<std::string> lines = linesOf(*trace);
        const auto startOf = [&](const std::string& wanted) {
            for (std::size_t i = 0; i < trace->eventCount(); ++i) {
                if (trace->name(trace::EventId::at(i)) == wanted)
                    return trace->event(trace::EventId::at(i)).span.begin.ns;
            }
            return std::int64_t{-1};
        };
        // Where theirs lie in absolute time, ours begin at the first event.
        const std::int64_t shift = std::stoll(rows[1][ts]) - startOf(rows[1][event]);
        for (std::size_t row = 1; row < rows.size(); ++row, ++compared) {
            if (rows[row].size() <= std::max({ts, dur, event})) continue;
            const std::string start = std::to_string(std::stoll(rows[row][ts]) - shift);
            // Perfetto leaves "BeginEvent", which ends as "EndEvent", open; we pair by nesting.
            if (rows[row][event] == "BeginEvent") continue;
            const bool open = rows[row][dur] == "-1";
            const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
                const std::string prefix = rows[row][event] + " " + start + "+";
                return open ? line.starts_with(prefix) && line.ends_with("...")
                            : line == prefix + rows[row][dur];
            });
            EXPECT_NE(found, lines.end())
                << name << ": " << rows[row][event] << " " << start << " " << rows[row][dur]
                << " among " << ::testing::PrintToString(lines);
        }
    }
    EXPECT_GT(compared, 15);
}

TEST(RealFiles, SmallOddFilesAreReadOrRefusedInOneLine) {
    SKIP_WITHOUT_SHARED_TRACES();
    for (const char* folder : {"json_cases/perfetto", "json_cases/speedscope"}) {
        for (const auto& entry : std::filesystem::directory_iterator(sharedTraces() / folder)) {
            if (entry.path().extension() != ".json") continue;
            const auto trace = importFile(entry.path());
            if (trace) {
                EXPECT_GT(trace->eventCount(), 0U) << entry.path();
            } else {
                EXPECT_EQ(messageOf(trace).find('\n'), std::string::npos) << entry.path();
            }
        }
    }
}

TEST(RealFiles, NdtimelineRanksHaveCoordinates) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto st = importFile(sharedTraces() / "straggler" / "timeline-ST.json.gz");
    ASSERT_TRUE(st) << messageOf(st);
    EXPECT_EQ(st->ranks().size(), 8U);
    EXPECT_EQ(st->eventCount(), 6'784U);
    const auto se = importFile(sharedTraces() / "straggler" / "timeline-SE.json.gz");
    ASSERT_TRUE(se) << messageOf(se);
    EXPECT_EQ(se->ranks().size(), 64U);
}

}  // namespace
}  // namespace pleat::importers
