// Recordings of several nodes, made here one after another with the real programs, as one run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pleat {
namespace {

using nlohmann::json;
using test::runProgram;

const std::string kPleat = PLEAT_BIN_DIR "/pleat";
const std::string kRankProgram = PLEAT_BIN_DIR "/rank_program";

class SeveralRecordings : public ::testing::Test {
  protected:
    void SetUp() override {
        for (const int node : {0, 1}) {
            const auto recorded =
                runProgram({kPleat, "record", "-o", file(node), "--", "sh", "-c",
                            fmt::format("RANK={} {} & RANK={} {} & wait", 2 * node, kRankProgram,
                                        2 * node + 1, kRankProgram)});
            ASSERT_EQ(recorded.status, 0) << recorded.errors;
        }
    }
    [[nodiscard]] std::string file(int node) const {
        return m_folder.file(fmt::format("node{}.pleat", node)).string();
    }
    static std::int64_t number(const std::string& file, const std::string& query) {
        const auto asked = runProgram({kPleat, "sql", file, query});
        EXPECT_EQ(asked.status, 0) << asked.errors;
        // The answer is the last line that is a number.
        const std::size_t digit = asked.output.find_last_of("0123456789");
        if (digit == std::string::npos) return -1;
        const std::size_t before = asked.output.find_last_not_of("-0123456789", digit);
        const std::size_t first = before == std::string::npos ? 0 : before + 1;
        return std::stoll(asked.output.substr(first, digit + 1 - first));
    }

    const test::TemporaryFolder m_folder;
};

TEST_F(SeveralRecordings, AreOneRunOfAllTheirRanks) {
    const auto report = runProgram({kPleat, "report", file(1), file(0), "--format", "json"});
    ASSERT_EQ(report.status, 0) << report.errors;
    const json answer = json::parse(report.output, nullptr, false);
    ASSERT_EQ(answer["ranks"].size(), 4U) << report.output;
    for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(answer["ranks"][rank]["rank"], rank);
        EXPECT_EQ(answer["ranks"][rank]["pp"], rank);
    }
    EXPECT_EQ(answer["iterations"]["count"], 2);
    for (const auto& note : answer["diagnostics"]) {
        EXPECT_NE(note["code"], "clock_unknown");
        EXPECT_NE(note["code"], "rank_guessed");
    }
}

// Both count from the same boot, so moments of the one and the other are as far apart as they were.
TEST_F(SeveralRecordings, AreMergedOnTheirHostsClock) {
    const std::string merged = m_folder.file("run.pleat").string();
    const auto done = runProgram({kPleat, "merge", file(0), file(1), "-o", merged});
    ASSERT_EQ(done.status, 0) << done.errors;
    EXPECT_EQ(number(merged, "select count(*) from task"), 16);
    EXPECT_EQ(number(merged, "select count(distinct clock) from rank"), 1);
    const auto moment = [&](const std::string& file, int stage, bool ofHost) {
        const std::string start = fmt::format(
            "select start_ns from named_event where name = '{}F0' order by start_ns limit 1",
            stage);
        const std::int64_t origin =
            ofHost ? number(file, "select value from meta where key = 'origin_monotonic_ns'") : 0;
        return origin + number(file, start);
    };
    EXPECT_EQ(moment(merged, 2, false) - moment(merged, 0, false),
              moment(file(1), 2, true) - moment(file(0), 0, true));
    const auto again = runProgram({kPleat, "report", merged, "--format", "json"});
    EXPECT_EQ(json::parse(again.output, nullptr, false)["ranks"].size(), 4U) << again.errors;
}

TEST_F(SeveralRecordings, WithTheSameRanksAreRefusedWithBothNames) {
    const std::string copy = m_folder.file("copy.pleat").string();
    std::filesystem::copy_file(file(0), copy);
    const auto refused = runProgram({kPleat, "report", file(0), copy});
    EXPECT_EQ(refused.status, 3);
    EXPECT_NE(refused.errors.find(file(0)), std::string::npos) << refused.errors;
    EXPECT_NE(refused.errors.find(copy), std::string::npos) << refused.errors;
    const auto renumbered = runProgram({kPleat, "info", file(0), copy, "--rank", copy + "=2"});
    EXPECT_EQ(renumbered.status, 0) << renumbered.errors;
    EXPECT_NE(renumbered.output.find("4 ranks"), std::string::npos) << renumbered.output;
}

}  // namespace
}  // namespace pleat
