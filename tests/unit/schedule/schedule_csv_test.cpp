#include "schedule/schedule_csv.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "schedule/generators.h"
#include "schedule/lower.h"
#include "schedule/validate.h"

namespace pleat::schedule {
namespace {

// A schedule PyTorch wrote; empty when the folder of real files is not beside the checkout.
std::string realFile(const std::string& name) {
    std::ifstream stream(std::filesystem::path(PLEAT_SOURCE_DIR) / "../shared/traces/schedule_csv" /
                         name);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(ScheduleCsv, WrittenSchedulesReadBackTheSame) {
    for (const std::string_view name : scheduleNames()) {
        const auto made =
            makeSchedule(name, {4, 8, name == "interleaved" || name == "folded" ? 2 : 1, 0});
        ASSERT_TRUE(made.ok());
        for (const Schedule& schedule : {*made, *lower(*made)}) {
            const auto read = readCsv(writeCsv(schedule), name);
            ASSERT_TRUE(read.ok()) << read.error().message;
            EXPECT_EQ(read->schedule.order, schedule.order);
            EXPECT_EQ(read->schedule.placement, schedule.placement);
            EXPECT_EQ(read->schedule.microbatches, schedule.microbatches);
            EXPECT_TRUE(read->diagnostics.empty());
        }
    }
}

TEST(ScheduleCsv, QuotesIdleCellsAndLineEndsOfOtherSystemsAreAccepted) {
    const auto read = readCsv("\"0F0\", ,0B0,\r\n,\"1F0\",1B0\r\n\n", "x");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(writeCsv(read->schedule), "0F0,0B0\n1F0,1B0\n");
}

TEST(ScheduleCsv, TheOlderDialectIsReadAndSaidSo) {
    const auto read = readCsv("0F0,0F1,0B0,0W0,0BW1\n", "old.csv");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(writeCsv(read->schedule), "0F0,0F1,0I0,0W0,0B1\n");
    ASSERT_NE(read->diagnostics.find("older_dialect"), nullptr);
    EXPECT_EQ(read->diagnostics.find("older_dialect")->count, 2);
}

TEST(ScheduleCsv, AnInputGradientWithinAnOverlapIsNoOlderDialect) {
    const std::string text = "0F0,(0F1;0I0)OVERLAP_F_B,0W0,0B1\n";
    const auto read = readCsv(text, "overlap.csv");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(writeCsv(read->schedule), text);
    EXPECT_TRUE(read->diagnostics.empty());
}

TEST(ScheduleCsv, AnErrorNamesFileRowAndCell) {
    const auto read = readCsv("0F0,0B0\n1F0,,1B0x\n", "bad.csv");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().message.rfind("bad.csv: row 2, cell 3: action \"1B0x\"", 0), 0U)
        << read.error().message;
    EXPECT_FALSE(readCsv("\"0F0\n", "x").ok());
}

TEST(ScheduleCsv, HostileNumbersCostNoMemory) {
    EXPECT_FALSE(readCsv("2147483647F0\n", "x").ok());
    EXPECT_FALSE(readCsv("0F2147483647\n", "x").ok());
    EXPECT_FALSE(readCsv("65535F0,0F1048575\n", "x").ok());
    const auto sparse = readCsv("0F0,0B0,0F1000000\n", "x");
    ASSERT_FALSE(sparse.ok());
    EXPECT_EQ(sparse.error().message,
              "x: 1 stages x 1000001 microbatches need at least 2000002 actions, but there are "
              "only 3");
}

TEST(ScheduleCsv, PyTorchsOwnFilesAreValid) {
    for (const std::string name : {"dualpipev_4rank_10mb.csv", "zb1p_2rank_2stage_comms.csv",
                                   "zb1p_2rank_2stage_compute.csv"}) {
        const std::string text = realFile(name);
        if (text.empty())
            GTEST_SKIP() << "../shared/traces/schedule_csv is not beside the checkout";
        const auto read = readCsv(text, name);
        ASSERT_TRUE(read.ok()) << read.error().message;
        const auto valid = validate(read->schedule);
        EXPECT_TRUE(valid.ok()) << name << ": " << (valid ? "" : valid.error().message);
        const auto lowered = lower(read->schedule);
        ASSERT_TRUE(lowered.ok());
        EXPECT_TRUE(validate(*lowered).ok());
    }
}

TEST(ScheduleCsv, EveryTruncationReadsOrIsOneLine) {
    const std::string text = writeCsv(*lower(*makeSchedule("folded", {2, 3, 2, 0})));
    for (std::size_t length = 0; length < text.size(); ++length) {
        const auto read = readCsv(text.substr(0, length), "cut.csv");
        if (read) {
            (void)validate(read->schedule);
        } else {
            EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace pleat::schedule
