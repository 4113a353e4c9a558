// Whatever the schedule and the layout, the losses are those of one process on the same data and
// seed.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <ostream>

#include "train_program.h"

namespace pleat::runtime {
namespace {

constexpr int kGlobalMicrobatches = 8;
constexpr std::size_t kSteps = 20;
constexpr double kTolerance = 1e-4;

std::vector<double> losses(std::vector<std::string> layout) {
    const TemporaryFolder folder;
    const std::string log = folder.file("loss.csv");
    std::vector<std::string> arguments = {
        "--layers",   "4",  "--hidden",          "32", "--heads", "4",
        "--sequence", "32", "--microbatch-size", "1",  "--steps", std::to_string(kSteps),
        "--loss-log", log};
    arguments.insert(arguments.end(), layout.begin(), layout.end());
    TrainProgram program(arguments);
    EXPECT_EQ(program.wait(), 0) << program.error();
    return readLosses(log);
}

// Of one process, once per kind of head.
const std::vector<double>& reference(bool tied) {
    static std::map<bool, std::vector<double>> known;
    auto& found = known[tied];
    if (found.empty()) {
        std::vector<std::string> layout = {"--microbatches", std::to_string(kGlobalMicrobatches)};
        if (tied) layout.emplace_back("--tied-head");
        found = losses(layout);
    }
    return found;
}

void expectReference(const std::vector<double>& measured, bool tied) {
    const std::vector<double>& expected = reference(tied);
    ASSERT_EQ(expected.size(), kSteps);
    ASSERT_EQ(measured.size(), kSteps);
    EXPECT_LT(expected.back(), expected.front() - 0.3)
        << "the model must learn, or equal losses mean little";
    double worst = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
        worst = std::max(worst, std::abs(measured[step] - expected[step]) / expected[step]);
    }
    EXPECT_LE(worst, kTolerance);
    ::testing::Test::RecordProperty("worst_relative_error", std::to_string(worst));
    std::printf("worst relative error %.2e\n", worst);
}

struct Case {
    const char* schedule;
    int dp, pp, chunks;
    bool tied;
};
// ctest shows it; without it the bytes of the struct, addresses included.
void PrintTo(const Case& c, std::ostream* stream) {
    *stream << c.schedule << " " << c.dp << "x" << c.pp;
}

class LossParity : public ::testing::TestWithParam<Case> {};

TEST_P(LossParity, EqualsOneProcess) {
    const Case& c = GetParam();
    std::vector<std::string> layout = {
        "--schedule",     c.schedule,
        "--dp",           std::to_string(c.dp),
        "--pp",           std::to_string(c.pp),
        "--chunks",       std::to_string(c.chunks),
        "--microbatches", std::to_string(kGlobalMicrobatches / c.dp)};
    if (c.tied) layout.emplace_back("--tied-head");
    expectReference(losses(layout), c.tied);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, LossParity,
    ::testing::Values(Case{"gpipe", 1, 2, 1, false}, Case{"gpipe", 2, 2, 1, false},
                      Case{"gpipe", 1, 4, 1, false}, Case{"1f1b", 1, 2, 1, false},
                      Case{"1f1b", 2, 2, 1, false}, Case{"1f1b", 1, 4, 1, false},
                      Case{"interleaved", 1, 2, 2, false}, Case{"interleaved", 2, 2, 2, false},
                      Case{"folded", 1, 2, 2, false}, Case{"folded", 2, 2, 2, false},
                      Case{"folded", 2, 2, 2, true}, Case{"1f1b", 1, 1, 1, true},
                      Case{"gpipe", 4, 1, 1, false}),
    [](const auto& tested) {
        const Case& c = tested.param;
        return std::string(c.schedule) + "_" + std::to_string(c.dp) + "x" + std::to_string(c.pp) +
               (c.tied ? "_tied" : "");
    });

TEST(LossParityOfAFile, EqualsOneProcess) {
    // Stages 0 and 3 on rank 0, 1 and 2 on rank 1: a placement no generator makes, with hops inside
    // a rank and the tied matrices on one rank.
    const TemporaryFolder folder;
    std::string rows[2];
    for (int m = 0; m < kGlobalMicrobatches; ++m) {
        const std::string n = std::to_string(m);
        rows[0] += "0F" + n + ",3F" + n + ",3B" + n + ",0B" + n + ",";
        rows[1] += "1F" + n + ",2F" + n + ",2B" + n + ",1B" + n + ",";
    }
    std::ofstream(folder.file("v.csv")) << rows[0] << "\n" << rows[1] << "\n";
    expectReference(losses({"--schedule", folder.file("v.csv"), "--pp", "2", "--tied-head"}), true);
}

}  // namespace
}  // namespace pleat::runtime
