#include "instrumented_runtime/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "instrumented_runtime/training_plan.h"

namespace pleat::runtime {
namespace {

base::Result<TrainingPlan> plan(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "pleat-train");
    const auto parsed = parseOptions(static_cast<int>(arguments.size()), arguments.data());
    if (!parsed) return parsed.error();
    return makePlan(std::get<TrainOptions>(*parsed));
}

// A folder that goes with the test.
class Folder {
  public:
    Folder()
        : m_path(std::filesystem::temp_directory_path() /
                 ("pleat_options_test_" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(m_path);
    }
    ~Folder() { std::filesystem::remove_all(m_path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(m_path / name) << text;
        return m_path / name;
    }
    [[nodiscard]] std::string path(const std::string& name) const { return m_path / name; }

  private:
    std::filesystem::path m_path;
};

struct Bad {
    std::vector<const char*> arguments;
    const char* part;  // of the message
};
// ctest shows it; without it the bytes of the struct, addresses included.
void PrintTo(const Bad& bad, std::ostream* stream) {
    for (const char* argument : bad.arguments) *stream << argument << " ";
}

class BadOptions : public ::testing::TestWithParam<Bad> {};

TEST_P(BadOptions, AreOneLineThatSaysWhat) {
    const auto result = plan(GetParam().arguments);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, base::ErrorCode::Usage);
    EXPECT_NE(result.error().message.find(GetParam().part), std::string::npos)
        << result.error().message;
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadOptions,
    ::testing::Values(
        Bad{{"--layers", "0"}, "--layers must be from 1"},
        Bad{{"--heads", "-2"}, "--heads must be"}, Bad{{"--steps", "0"}, "--steps"},
        Bad{{"--dp", "0"}, "--dp"}, Bad{{"--pp", "-1"}, "--pp"}, Bad{{"--chunks", "0"}, "--chunks"},
        Bad{{"--microbatches", "0"}, "--microbatches"},
        Bad{{"--microbatch-size", "0"}, "--microbatch-size"},
        Bad{{"--sequence", "0"}, "--sequence"}, Bad{{"--group", "-1"}, "--group"},
        Bad{{"--link-latency", "-1"}, "--link-latency"},
        Bad{{"--link-bandwidth", "-1"}, "--link-bandwidth"},
        Bad{{"--link-bandwidth", "nan"}, "--link-bandwidth"},
        Bad{{"--learning-rate", "0"}, "--learning-rate"}, Bad{{"--layers", "many"}, "--layers"},
        Bad{{"--layers", "9999999999"}, "--layers"}, Bad{{"--dp", "64", "--pp", "64"}, "--dp 64"},
        Bad{{"--seed", "-1"}, "--seed"}, Bad{{"--layers"}, "--layers"},
        Bad{{"--hidden", "30", "--heads", "4"}, "--hidden 30 is not divisible by --heads 4"},
        Bad{{"--layers", "6", "--pp", "4"}, "--layers 6 is not divisible by the 4 stages"},
        Bad{{"--layers", "6", "--pp", "2", "--chunks", "2", "--schedule", "folded"}, "--layers 6"},
        Bad{{"--pp", "4", "--chunks", "2", "--layers", "8", "--schedule", "interleaved",
             "--microbatches", "2"},
            "microbatches"},
        Bad{{"--chunks", "2"}, "chunk"}, Bad{{"--schedule", "foldd"}, "folded"},
        Bad{{"--micro-batches", "4"}, "did you mean --microbatches?"},
        Bad{{"--zzz"}, "unknown argument '--zzz'"}, Bad{{"extra"}, "unknown argument 'extra'"},
        Bad{{"--device", "gpu"}, "--device gpu"}, Bad{{"--data", "/no/such/file"}, "/no/such/file"},
        Bad{{"--data", "/tmp"}, "--data /tmp"}, Bad{{"--sequence", "100000"}, "too few"},
        Bad{{"--schedule", "/no/such.csv"}, "/no/such.csv"},
        Bad{{"--loss-log", "/no/such/folder/loss.csv"}, "--loss-log /no/such/folder/loss.csv"}));

TEST(Options, DefaultsMakeARunOfOneProcess) {
    const auto made = plan({});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->layout.worldSize(), 1);
    EXPECT_EQ(made->schedule.name, "1f1b");
    EXPECT_EQ(made->options.microbatches, 4);
}

TEST(Options, EveryOptionIsRead) {
    const Folder folder;
    const std::string data = folder.file("text", std::string(100, 'a'));
    const std::string log = folder.path("loss.csv");
    const auto made = plan({"--data",
                            data.c_str(),
                            "--layers",
                            "8",
                            "--hidden",
                            "12",
                            "--heads",
                            "3",
                            "--sequence",
                            "16",
                            "--microbatches",
                            "6",
                            "--microbatch-size",
                            "3",
                            "--steps",
                            "7",
                            "--dp",
                            "2",
                            "--pp",
                            "2",
                            "--schedule",
                            "interleaved",
                            "--chunks",
                            "2",
                            "--group",
                            "2",
                            "--device",
                            "cpu",
                            "--link-bandwidth",
                            "1e6",
                            "--link-latency",
                            "5",
                            "--seed",
                            "9",
                            "--loss-log",
                            log.c_str(),
                            "--tied-head",
                            "--learning-rate",
                            "0.5"});
    ASSERT_TRUE(made) << made.error().message;
    const TrainOptions& options = made->options;
    EXPECT_EQ(options.dataFile, data);
    EXPECT_EQ(options.layers, 8);
    EXPECT_EQ(options.hidden, 12);
    EXPECT_EQ(options.heads, 3);
    EXPECT_EQ(options.sequence, 16);
    EXPECT_EQ(options.microbatchSize, 3);
    EXPECT_EQ(options.steps, 7);
    EXPECT_EQ(options.linkBandwidth, 1e6);
    EXPECT_EQ(options.linkLatencyNs, 5);
    EXPECT_EQ(options.seed, 9);
    EXPECT_EQ(options.learningRate, 0.5);
    EXPECT_TRUE(options.tiedHead);
    EXPECT_EQ(made->layout.worldSize(), 4);
    EXPECT_EQ(made->schedule.microbatches, 6);
    EXPECT_EQ(made->schedule.placement.stages(), 4);
    EXPECT_FALSE(std::filesystem::exists(log)) << "checking the log must not leave a file";
}

TEST(Options, HelpShowsAnExample) {
    const char* const arguments[] = {"pleat-train", "--help"};
    const auto parsed = parseOptions(2, arguments);
    ASSERT_TRUE(parsed);
    const std::string& text = std::get<HelpText>(*parsed).text;
    EXPECT_NE(text.find("Example: pleat-train --dp 2 --pp 2 --schedule folded"), std::string::npos);
    EXPECT_NE(text.find("--link-bandwidth"), std::string::npos);
}

TEST(Options, AScheduleFileGivesMicrobatchesAndChunks) {
    const Folder folder;
    const std::string file = folder.file(
        "two.csv", "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n1F0,1F1,3F0,3F1,3B0,3B1,1B0,1B1\n");
    const auto made = plan({"--schedule", file.c_str(), "--pp", "2"});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->options.microbatches, 2);
    EXPECT_EQ(made->options.chunks, 2);
    EXPECT_FALSE(plan({"--schedule", file.c_str(), "--pp", "4"}));
    EXPECT_FALSE(plan({"--schedule", file.c_str(), "--pp", "2", "--microbatches", "4"}));
    EXPECT_FALSE(plan({"--schedule", file.c_str(), "--pp", "2", "--chunks", "1"}));
    const std::string broken = folder.file("broken.csv", "0B0,0F0\n");
    EXPECT_FALSE(plan({"--schedule", broken.c_str()}));
}

}  // namespace
}  // namespace pleat::runtime
