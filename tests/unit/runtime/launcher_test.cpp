#include "instrumented_runtime/launcher.h"

#include <gtest/gtest.h>

namespace pleat::runtime {
namespace {

struct Launched {
    int status = -1;
    std::string said;
};

// Ranks that run a shell script, which sees RANK and WORLD_SIZE.
Launched launchScript(const std::string& script, std::int32_t worldSize) {
    Launched launched;
    const auto status =
        launchRanks({"/bin/sh", {"sh", "-c", script}, worldSize},
                    [&](std::string_view line) { launched.said += std::string(line) + "\n"; });
    if (status) launched.status = *status;
    return launched;
}

TEST(Launcher, RanksSeeTheirPlaceInTheRun) {
    const Launched launched = launchScript(
        "test \"$WORLD_SIZE\" = 3 && test \"$LOCAL_RANK\" = \"$RANK\" && test \"$MASTER_ADDR\" = "
        "127.0.0.1 && "
        "test \"$MASTER_PORT\" -gt 0 && test \"$RANK\" -lt 3",
        3);
    EXPECT_EQ(launched.status, 0);
    EXPECT_EQ(launched.said, "");
}

TEST(Launcher, AKilledRankIsNamedAndEndsTheOthers) {
    const Launched launched =
        launchScript("if [ $RANK = 1 ]; then kill -9 $$; fi; exec sleep 60", 3);
    EXPECT_EQ(launched.status, 137);
    EXPECT_TRUE(launched.said.starts_with("rank 1 (pid ")) << launched.said;
    EXPECT_NE(launched.said.find("was killed by signal 9 (Killed); stopping the others"),
              std::string::npos)
        << launched.said;
}

TEST(Launcher, AFailedRankGivesItsStatus) {
    const Launched launched = launchScript("if [ $RANK = 2 ]; then exit 3; fi; exec sleep 60", 3);
    EXPECT_EQ(launched.status, 3);
    EXPECT_NE(launched.said.find("exited with status 3"), std::string::npos) << launched.said;
}

TEST(Launcher, ARankThatIgnoresSigtermIsKilled) {
    const Launched launched = launchScript(
        "if [ $RANK = 0 ]; then exit 5; fi; trap '' TERM; while true; do sleep 0.1; done", 2);
    EXPECT_EQ(launched.status, 5);
}

TEST(Launcher, ASignalExplainsMoreThanAStatusAndALostPeerLeast) {
    const ChildEnd lost{0, 10, kPeerLostStatus, 0}, failed{1, 11, 3, 0}, killed{2, 12, 0, 9};
    EXPECT_EQ(likeliestCause({lost, failed, killed}).rank, 2);
    EXPECT_EQ(likeliestCause({lost, failed}).rank, 1);
    EXPECT_EQ(likeliestCause({lost}).rank, 0);
    EXPECT_EQ(describe(failed), "rank 1 (pid 11) exited with status 3");
}

}  // namespace
}  // namespace pleat::runtime
