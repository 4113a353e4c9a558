// pleat-train as a program: exit statuses, launchers, and what happens when a rank dies.
#include <dirent.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

#include "train_program.h"

namespace pleat::runtime {
namespace {

const std::vector<std::string> kTiny = {"--layers",          "4", "--hidden",   "16",
                                        "--heads",           "2", "--sequence", "16",
                                        "--microbatch-size", "1"};

std::vector<std::string> tiny(std::vector<std::string> more) {
    more.insert(more.begin(), kTiny.begin(), kTiny.end());
    return more;
}

// Child processes of `parent` by their RANK variable.
std::map<std::string, pid_t> ranksOf(pid_t parent) {
    std::map<std::string, pid_t> ranks;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::istringstream status(test::readBytes(entry.path() / "stat"));
        std::string number, command, state;
        pid_t parentOf = 0;
        status >> number >> command >> state >> parentOf;
        if (parentOf != parent) continue;
        std::istringstream variables(test::readBytes(entry.path() / "environ"));
        for (std::string variable; std::getline(variables, variable, '\0');) {
            if (variable.starts_with("RANK="))
                ranks[variable.substr(5)] = static_cast<pid_t>(std::stoi(number));
        }
    }
    return ranks;
}

// Until the log shows that training is under way.
bool waitForLosses(const std::string& log) {
    for (int i = 0; i < 6000; ++i) {
        if (test::readBytes(log).size() > sizeof("step,loss\n0,")) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST(TrainProgram, WrongUsageIsOneLineAndStatusTwo) {
    TrainProgram program({"--layers", "5", "--pp", "2"});
    EXPECT_EQ(program.wait(), 2);
    EXPECT_EQ(program.out(), "");
    EXPECT_EQ(program.error(),
              "pleat-train: --layers 5 is not divisible by the 2 stages of --pp 2 with 1 per rank; "
              "use a multiple of "
              "2\n");
}

TEST(TrainProgram, AWorldOfAnotherSizeIsRefused) {
    TrainProgram program(tiny({"--pp", "2"}), {{"RANK", "0"}, {"WORLD_SIZE", "3"}});
    EXPECT_EQ(program.wait(), 2);
    EXPECT_EQ(program.error(),
              "pleat-train: --dp 1 x --pp 2 is 2 ranks, but 3 were started (WORLD_SIZE)\n");
}

TEST(TrainProgram, RanksMayBeStartedByAnotherProgram) {
    const TemporaryFolder folder;
    const std::string log = folder.file("loss.csv");
    const auto arguments = tiny({"--pp", "2", "--steps", "3", "--loss-log", log});
    const std::string port = std::to_string(20000 + ::getpid() % 20000);
    const auto variables = [&](const char* rank) {
        return TrainProgram::Variables{{"RANK", rank},
                                       {"WORLD_SIZE", "2"},
                                       {"MASTER_ADDR", "127.0.0.1"},
                                       {"MASTER_PORT", port}};
    };
    TrainProgram first(arguments, variables("0")), second(arguments, variables("1"));
    EXPECT_EQ(first.wait(), 0) << first.error();
    EXPECT_EQ(second.wait(), 0) << second.error();
    EXPECT_EQ(readLosses(log).size(), 3U);
    EXPECT_TRUE(first.out().empty());
    EXPECT_TRUE(second.out().starts_with("3 steps in ")) << second.out();
}

TEST(TrainProgram, AKilledRankIsNamedAndAllEnd) {
    const TemporaryFolder folder;
    const std::string log = folder.file("loss.csv");
    TrainProgram program(tiny({"--dp", "2", "--pp", "2", "--steps", "1000000", "--loss-log", log}));
    ASSERT_TRUE(waitForLosses(log)) << program.error();
    const auto ranks = ranksOf(program.process());
    ASSERT_EQ(ranks.size(), 4U);
    const pid_t victim = ranks.at("2");
    ::kill(victim, SIGKILL);
    EXPECT_EQ(program.wait(std::chrono::seconds(10)), 128 + SIGKILL) << program.error();
    EXPECT_NE(program.error().find("pleat-train: rank 2 (pid " + std::to_string(victim) +
                                   ") was killed by signal 9 (Killed)"),
              std::string::npos)
        << program.error();
    for (const auto& [rank, process] : ranks)
        EXPECT_NE(::kill(process, 0), 0) << "rank " << rank << " is left";
}

TEST(TrainProgram, WithoutALauncherARankNoticesItsLostPeer) {
    const TemporaryFolder folder;
    const std::string log = folder.file("loss.csv");
    const auto arguments = tiny({"--pp", "2", "--steps", "1000000", "--loss-log", log});
    const std::string port = std::to_string(20000 + (::getpid() + 7919) % 20000);
    const auto variables = [&](const char* rank) {
        return TrainProgram::Variables{{"RANK", rank}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", port}};
    };
    TrainProgram first(arguments, variables("0")), second(arguments, variables("1"));
    ASSERT_TRUE(waitForLosses(log)) << first.error() << second.error();
    ::kill(second.process(), SIGKILL);
    EXPECT_EQ(first.wait(std::chrono::seconds(10)), 1);
    EXPECT_NE(first.error().find("pleat-train: rank 0: "), std::string::npos) << first.error();
    EXPECT_NE(first.error().find(" rank 1: "), std::string::npos) << first.error();
}

TEST(TrainProgram, AnInterruptIsPassedOn) {
    const TemporaryFolder folder;
    const std::string log = folder.file("loss.csv");
    TrainProgram program(tiny({"--pp", "2", "--steps", "1000000", "--loss-log", log}));
    ASSERT_TRUE(waitForLosses(log)) << program.error();
    const auto ranks = ranksOf(program.process());
    ::kill(program.process(), SIGTERM);
    EXPECT_EQ(program.wait(std::chrono::seconds(10)), 128 + SIGTERM);
    for (const auto& [rank, process] : ranks)
        EXPECT_NE(::kill(process, 0), 0) << "rank " << rank << " is left";
}

}  // namespace
}  // namespace pleat::runtime
