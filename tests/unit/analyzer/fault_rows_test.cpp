// Every row of ../shared/traces/faults/README.md, which has the right answers: small inputs that
// each stand for a kind of run that was answered wrongly once.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>

#include "analysis/run_analysis.h"
#include "opening/open_trace.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

namespace fs = std::filesystem;
using importers::sharedTraces;

fs::path faults() { return sharedTraces() / "faults"; }

#define SKIP_WITHOUT_FAULTS() \
    if (!fs::exists(faults())) GTEST_SKIP() << "no ../shared/traces/faults beside the checkout"

trace::Trace opened(const std::vector<std::string>& names, const std::string& rules = {}) {
    opening::OpenRequest request;
    for (const std::string& name : names) request.files.push_back(faults() / name);
    if (!rules.empty()) request.rules = faults() / rules;
    return opening::openTrace(request).value().trace;
}

RunAnalysis answer(const std::vector<std::string>& names, const std::string& rules = {}) {
    return analyseRun(opened(names, rules), {}).value();
}

const RankSummary& rank(const RunAnalysis& run, std::int32_t number) {
    for (const RankSummary& each : run.ranks) {
        if (each.number == number) return each;
    }
    ADD_FAILURE() << "no rank " << number;
    return run.ranks.at(0);
}

double milliseconds(base::Duration time) { return static_cast<double>(time.ns) / 1e6; }

double percent(const RunAnalysis& run, BubbleCause cause) {
    return 100 * run.bubble.byCause[cause];
}

// How long a rank waited for another, in ms.
double waited(const RunAnalysis& run, std::int32_t who, std::int32_t forWhom) {
    double sum = 0;
    for (const WaitSummary& wait : rank(run, who).waits) {
        if (wait.lateRank == forWhom) sum += milliseconds(wait.duration);
    }
    return sum;
}

std::vector<std::string> blamed(const RunAnalysis& run) {
    std::vector<std::string> names;
    for (const Straggler& straggler : run.stragglers) names.push_back(toString(straggler.suspect));
    return names;
}

bool isBlamed(const RunAnalysis& run, const std::string& name) {
    const auto names = blamed(run);
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<double> windowLengths(const trace::Trace& trace) {
    std::vector<double> lengths;
    for (const graph::IterationWindow& window : graph::iterationWindows(trace))
        lengths.push_back(milliseconds(window.window.length()));
    return lengths;
}

TEST(FaultRows, ATimerThatIsAMicrosecondEarlyLosesNoDependency) {
    SKIP_WITHOUT_FAULTS();
    for (const char* file :
         {"ndtimeline_message_1us_before_task_ends.json", "ndtimeline_message_after_task.json"}) {
        SCOPED_TRACE(file);
        const RunAnalysis run = answer({file});
        EXPECT_NEAR(percent(run, BubbleCause::Fill), 11.1, 0.05);
        EXPECT_NEAR(percent(run, BubbleCause::Drain), 4.3, 0.05);
        EXPECT_NEAR(percent(run, BubbleCause::Imbalance), 22.9, 0.05);
        EXPECT_LE(percent(run, BubbleCause::Unknown), 2.04);
        ASSERT_TRUE(run.criticalPath);
        EXPECT_FALSE(run.criticalPath->byKind.contains("pause"));
    }
}

TEST(FaultRows, ACopyOnASideStreamMovesNoBound) {
    SKIP_WITHOUT_FAULTS();
    const auto lengths = windowLengths(opened({"host_runs_ahead_prefetch_copy.json"}));
    ASSERT_EQ(lengths.size(), 4U);
    for (std::size_t i = 0; i < lengths.size(); ++i) EXPECT_NEAR(lengths[i], i == 2 ? 40 : 20, 1);
}

TEST(FaultRows, WorkOfBeforeTheFirstStepIsNotInIt) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"work_of_before_the_first_step.json"});
    EXPECT_NEAR(milliseconds(run.iterations.mean), 20, 0.1);
    EXPECT_NE(run.diagnostics.find("work_before_iterations"), nullptr);
}

TEST(FaultRows, AWaitForTheOtherReplicasIsNoSlowness) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"dp_wait_in_task"});
    ASSERT_FALSE(run.stragglers.empty());
    EXPECT_EQ(run.stragglers.front().rank, 1);
    for (const std::int32_t victim : {0, 2, 3}) {
        EXPECT_NEAR(waited(run, victim, 1), 61, 0.5);
        EXPECT_FALSE(isBlamed(run, fmt::format("rank:{}", victim)));
    }
}

TEST(FaultRows, TheSlowTensorParallelRankComesFirst) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"tp_wait_in_task"});
    ASSERT_FALSE(run.stragglers.empty());
    EXPECT_EQ(run.stragglers.front().rank, 1) << fmt::format("{}", fmt::join(blamed(run), " "));
}

TEST(FaultRows, ClockInformationOfAnExportIsUsed) {
    SKIP_WITHOUT_FAULTS();
    EXPECT_NEAR(waited(answer({"rank0_utc.sqlite", "rank1_utc.sqlite"}), 0, 1), 30, 0.1);
}

TEST(FaultRows, ACollectiveOfMoreRanksThanWereRecordedIsAnAnchor) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"subset_of_ranks"});
    EXPECT_NEAR(waited(run, 0, 39), 3 * 0.3, 0.01);
}

TEST(FaultRows, AKernelThatARuleMakesATransferIsNoCompute) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run =
        answer({"rule_transfer_kernel_hidden_under_itself.json"}, "rule_transfer.rules.json");
    EXPECT_EQ(rank(run, 0).time.hidden.ns, 0);
    EXPECT_GT(rank(run, 0).time[analysis::TimePart::Moving].ns, 0);
    EXPECT_LT(rank(run, 0).time[analysis::TimePart::Compute], rank(run, 0).time.total());
}

TEST(FaultRows, CommunicationIsKnownByManyNames) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"comm_names.json"});
    EXPECT_EQ(rank(run, 0).time[analysis::TimePart::Compute].ns, 0);
    EXPECT_EQ(rank(run, 0).time[analysis::TimePart::Moving].ns, 11 * 500'000);
}

TEST(FaultRows, ANullFieldCostsThatFieldOnly) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"ndtimeline_mb_id_null.json"});
    EXPECT_EQ(run.iterations.indices, (std::vector<std::int32_t>{23, 25}));
    ASSERT_TRUE(run.schedule);
    EXPECT_EQ(run.schedule->name, "1f1b");
    EXPECT_EQ(run.schedule->ranks, 4);
    EXPECT_EQ(run.schedule->microbatches, 4);
    EXPECT_EQ(run.ranks.size(), 8U);
}

TEST(FaultRows, ATransferBeforeTheFirstTaskBeginsTheIteration) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"ndtimeline_all_gather_before_first_task.json"});
    EXPECT_NEAR(milliseconds(run.iterations.mean), 277, 0.01);
    ASSERT_TRUE(run.replay);
    EXPECT_EQ(run.replay->measured, run.iterations.mean);
}

TEST(FaultRows, TheOutermostRangeThatRepeatsIsTheIteration) {
    SKIP_WITHOUT_FAULTS();
    EXPECT_EQ(answer({"iteration_ranges_nested.sqlite"}).iterations.indices.size(), 3U);
}

// Devices of one process are lanes, rows and accounting lines of their own.
TEST(FaultRows, DevicesOfOneProcessStayApart) {
    SKIP_WITHOUT_FAULTS();
    const RunAnalysis run = answer({"one_process_two_gpus.json"});
    ASSERT_EQ(run.ranks.size(), 2U);
    for (const RankSummary& each : run.ranks) {
        EXPECT_NEAR(milliseconds(each.time[analysis::TimePart::Compute]), 40, 0.01);
        EXPECT_NEAR(milliseconds(each.time.total()), 100, 0.01);
    }
}

// Every input has a test, here or in a file of what it is about.
TEST(FaultRows, NoneIsLeftOut) {
    SKIP_WITHOUT_FAULTS();
    std::string tests;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(PLEAT_SOURCE_DIR) / "tests")) {
        if (entry.path().extension() != ".cpp") continue;
        std::ifstream file(entry.path());
        tests.append(std::istreambuf_iterator<char>(file), {});
    }
    std::size_t inputs = 0;
    for (const auto& entry : fs::directory_iterator(faults())) {
        const std::string name = entry.path().filename().string();
        if (name == "README.md") continue;
        ++inputs;
        EXPECT_NE(tests.find('"' + name), std::string::npos) << name << " has no test";
    }
    EXPECT_GE(inputs, 16U);
}

}  // namespace
}  // namespace pleat::analysis
