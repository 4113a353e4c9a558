#include "schedule/validate.h"

#include <gtest/gtest.h>

#include "schedule/generators.h"
#include "schedule/lower.h"
#include "schedule/schedule_csv.h"

namespace pleat::schedule {
namespace {

std::string problem(std::string_view csv) {
    const auto read = readCsv(csv, "test.csv");
    if (!read) return read.error().message;
    const auto valid = validate(read->schedule);
    return valid ? "" : valid.error().message;
}

void expectProblem(std::string_view csv, std::string_view words) {
    const std::string message = problem(csv);
    EXPECT_NE(message.find(words), std::string::npos) << csv << " -> " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Validate, AcceptsComputeOnlySplitAndLoweredSchedules) {
    EXPECT_EQ(problem("0F0,0B0\n1F0,1B0\n"), "");
    EXPECT_EQ(problem("0F0,0I0,0W0\n1F0,1I0,1W0\n"), "");
    EXPECT_EQ(problem("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"), "");
}

TEST(Validate, NamesEachFault) {
    expectProblem("0F0,0B0\n0F1,0B1\n", "stage 0 is assigned to both rank 0 and rank 1");
    expectProblem("0F0,0B0\n2F0,2B0\n", "no rank holds stage 1");
    expectProblem("0F0,0B0\n\n1F0,1B0\n", "row 2 has no actions");
    expectProblem("0F0,0B0,0F0\n", "duplicate action 0F0");
    expectProblem("0F0,0F1,0B0\n", "microbatch 1 has no backward");
    expectProblem("0F0,0B0,0B1\n", "microbatch 1 has no forward");
    expectProblem("0F0,0I0\n", "no weight gradient");
    expectProblem("0F0,0B0,0I0,0W0\n", "has B and I or W");
    expectProblem("0B0,0F0\n", "0B0 waits for 0F0");
    expectProblem("0F0,0W0,0I0\n", "0W0 waits for 0I0");
    expectProblem("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n", "link from rank 0 to rank 1");
    expectProblem(
        "0F0,0F1,0SEND_F1,0SEND_F0,0RECV_B0,0B0,0RECV_B1,0B1\n"
        "1RECV_F0,1RECV_F1,1F0,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
        "message 0 is sent for 1RECV_F1 but received as 1RECV_F0");
    expectProblem("0SEND_B0,0F0,0B0\n", "no stage to exchange it with");
    expectProblem("0F0,0SEND_F0,1RECV_F0,1F0,1B0,0B0\n", "0SEND_F0 needs no message");
    expectProblem("", "no actions");
}

// Each rank waits for the other's second microbatch first.
TEST(Validate, NamesACycleOfWaitsAndTheGridMarksIt) {
    const auto read = readCsv("0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n", "test.csv");
    ASSERT_TRUE(read.ok());
    const auto valid = validate(read->schedule);
    ASSERT_FALSE(valid.ok());
    EXPECT_NE(valid.error().message.find("0B0 waits for 1B0"), std::string::npos)
        << valid.error().message;
    EXPECT_EQ(drawGrid(read->schedule),
              "rank 0   0F0  !0B0\n"
              "rank 1   !1F1\n");
}

TEST(DrawGrid, ShowsTheBubblesOfTheInOrderRun) {
    const auto schedule = makeSchedule("1f1b", {.ranks = 2, .microbatches = 2});
    ASSERT_TRUE(schedule.ok());
    EXPECT_EQ(drawGrid(*schedule),
              "rank 0   0F0  0F1       0B0       0B1\n"
              "rank 1        1F0  1B0  1F1  1B1\n");
}

TEST(Lower, PlacesASendAfterItsForwardAndTheReceiveOnThePeer) {
    const auto schedule = makeSchedule("gpipe", {.ranks = 2, .microbatches = 2});
    ASSERT_TRUE(schedule.ok());
    const auto lowered = lower(*schedule);
    ASSERT_TRUE(lowered.ok());
    EXPECT_EQ(writeCsv(*lowered),
              "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,0REDUCE_GRAD\n"
              "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1,1REDUCE_GRAD\n");
    EXPECT_EQ(*lower(*lowered), *lowered);
}

// Folded over two ranks: the last stage of a turn feeds rank 0 again over the wrap-around link.
TEST(Lower, AHopBetweenStagesOfOneRankStaysLocalAndTheRingWrapsAround) {
    const auto read = readCsv("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n", "v");
    ASSERT_TRUE(read.ok());
    const auto vShaped = lower(read->schedule);
    ASSERT_TRUE(vShaped.ok()) << vShaped.error().message;
    EXPECT_EQ(writeCsv(*vShaped),
              "0F0,0SEND_F0,3RECV_F0,3F0,3B0,3SEND_B0,0RECV_B0,0B0\n"
              "1RECV_F0,1F0,2F0,2SEND_F0,2RECV_B0,2B0,1B0,1SEND_B0\n");
    const auto folded = lower(*makeSchedule("folded", {2, 2, 2, 0}));
    ASSERT_TRUE(folded.ok());
    const std::string text = writeCsv(*folded);
    EXPECT_NE(text.find("2RECV_F0"), std::string::npos);
    EXPECT_NE(text.find("1SEND_F0"), std::string::npos);
}

TEST(Lower, AnOverlappedPairSendsForBothOfItsParts) {
    const auto read = readCsv("0F0,0F1,0B0,0B1\n1F0,(1F1;1B0)OVERLAP_F_B,1B1\n", "overlap");
    ASSERT_TRUE(read.ok());
    const auto lowered = lower(read->schedule);
    ASSERT_TRUE(lowered.ok()) << lowered.error().message;
    EXPECT_TRUE(validate(*lowered).ok());
    EXPECT_NE(writeCsv(*lowered).find("(1F1;1B0)OVERLAP_F_B,1SEND_B0"), std::string::npos);
}

}  // namespace
}  // namespace pleat::schedule
