// The whole loop with the real programs: train, record, analyse. Needs pleat-train and recording in
// this build.
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "store/reader.h"
#include "support/run_program.h"

namespace pleat {
namespace {

using nlohmann::json;
using test::runProgram;
using test::temporaryPath;
namespace fs = std::filesystem;

const std::string kPleat = PLEAT_BIN_DIR "/pleat";
const std::string kTrain = PLEAT_BIN_DIR "/pleat-train";

struct Samples {
    int microbatchSize = 1;
    int sequence = 32;
};

// dp 2 × pp 2, 2 chunks, 8 microbatches; 4 stages.
std::vector<std::string> trainCommand(const std::string& schedule, int steps,
                                      Samples samples = {}) {
    return {kTrain,
            "--dp",
            "2",
            "--pp",
            "2",
            "--schedule",
            schedule,
            "--chunks",
            "2",
            "--microbatches",
            "8",
            "--microbatch-size",
            std::to_string(samples.microbatchSize),
            "--layers",
            "4",
            "--hidden",
            "64",
            "--heads",
            "2",
            "--sequence",
            std::to_string(samples.sequence),
            "--steps",
            std::to_string(steps)};
}

std::vector<std::string> recorded(const std::string& file,
                                  const std::vector<std::string>& command) {
    std::vector<std::string> all = {kPleat, "record", "-o", file, "--"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

std::vector<store::SqlRow> query(const std::string& file, const std::string& sql) {
    std::vector<store::SqlRow> rows;
    const auto done = store::runSql(
        file, sql, {[](const auto&) {}, [&](const store::SqlRow& row) { rows.push_back(row); }});
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().message);
    return rows;
}

std::int64_t queryNumber(const std::string& file, const std::string& sql) {
    const auto rows = query(file, sql);
    return rows.empty() || !rows[0][0] ? -1 : std::stoll(*rows[0][0]);
}

json report(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> command = {kPleat, "report", file, "--format", "json"};
    command.insert(command.end(), options.begin(), options.end());
    const auto result = runProgram(command);
    EXPECT_EQ(result.status, 0) << result.errors;
    return json::parse(result.output);
}

TEST(EndToEnd, ARecordedRunHoldsEveryTaskAndItsReportSumsExactly) {
    const std::string file = temporaryPath("run.pleat");
    const auto run = runProgram(recorded(file, trainCommand("folded", 5)));
    ASSERT_EQ(run.status, 0) << run.errors;
    // steps × (F and B) × microbatches × stages × dp
    EXPECT_EQ(queryNumber(file, "select count(*) from task"), 5 * 2 * 8 * 4 * 2);
    EXPECT_EQ(queryNumber(file, "select count(*) from transfer where match is null"), 0);
    EXPECT_EQ(queryNumber(file, "select count(*) from diagnostic where severity <> 'info'"), 0);

    const json answer = report(file);
    EXPECT_EQ(answer["schedule"]["name"], "folded");
    ASSERT_EQ(answer["ranks"].size(), 4U);
    for (const json& rank : answer["ranks"]) {
        const auto part = [&](const char* key) { return rank[key].get<std::int64_t>(); };
        EXPECT_EQ(part("total_ns"), part("compute_ns") + part("transfer_moving_ns") +
                                        part("transfer_waiting_ns") + part("copy_ns") +
                                        part("bubble_ns"));
        std::int64_t causes = 0;
        for (const json& cause : rank["bubble_by_cause"]) causes += cause.get<std::int64_t>();
        EXPECT_EQ(causes, part("bubble_ns"));
    }
    std::int64_t path = 0;
    for (const json& kind : answer["critical_path"]["by_kind"]) path += kind.get<std::int64_t>();
    EXPECT_EQ(path, answer["critical_path"]["length_ns"].get<std::int64_t>());
}

TEST(EndToEnd, EveryScheduleIsRecognisedFromItsOwnRecording) {
    for (const std::string schedule : {"interleaved", "folded"}) {
        const std::string file = temporaryPath("run.pleat");
        ASSERT_EQ(runProgram(recorded(file, trainCommand(schedule, 3))).status, 0);
        EXPECT_EQ(report(file)["schedule"]["name"], schedule);
    }
}

// The process id of a training rank below the recorder: its environment says RANK=n.
std::optional<pid_t> findRank(pid_t recorder, int rank) {
    const std::string wanted = "RANK=" + std::to_string(rank);
    const auto hasParent = [](pid_t pid) {
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        std::string text((std::istreambuf_iterator<char>(stat)), {});
        std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 2)));
        std::string state;
        pid_t parent = 0;
        rest >> state >> parent;
        return parent;
    };
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
        if (pid <= 0 || hasParent(hasParent(pid)) != recorder) continue;
        std::ifstream environ(entry.path() / "environ", std::ios::binary);
        for (std::string item; std::getline(environ, item, '\0');) {
            if (item == wanted) return pid;
        }
    }
    return std::nullopt;
}

std::int64_t monotonicNow() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

TEST(EndToEnd, AKilledRankIsNamedAndNothingItRecordedIsMissing) {
    const std::string file = temporaryPath("killed.pleat");
    test::RunningProgram run(recorded(file, trainCommand("folded", 100'000)));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto recordedTasks = [&] {
        return fs::exists(file)
                   ? queryNumber(file, "select count(*) from named_event where domain = 'pleat'")
                   : 0;
    };
    while (recordedTasks() < 2'000 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const std::optional<pid_t> victim = findRank(run.pid(), 2);
    ASSERT_TRUE(victim);
    const std::int64_t killedAt = monotonicNow();
    ASSERT_EQ(kill(*victim, SIGKILL), 0);
    const auto result = run.wait();
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.errors.find("rank 2"), std::string::npos) << result.errors;
    EXPECT_LT(monotonicNow() - killedAt, 10'000'000'000) << "the other ranks must stop";

    const auto info = runProgram({kPleat, "info", file});
    EXPECT_EQ(info.status, 0) << info.errors;
    EXPECT_NE(info.output.find("rank 2"), std::string::npos) << info.output;
    EXPECT_NE(info.output.find("killed"), std::string::npos) << info.output;

    const std::int64_t origin =
        queryNumber(file, "select value from meta where key = 'origin_monotonic_ns'");
    const std::int64_t lastEnd = queryNumber(file,
                                             "select max(e.end_ns) from named_event e join rank r "
                                             "on r.number = e.rank where r.number = 2");
    EXPECT_GT(origin + lastEnd, killedAt - 500'000'000);
    // No hole: every iteration but the last has all 32 tasks of the rank (2 chunks × 8
    // microbatches, F and B).
    EXPECT_EQ(
        queryNumber(
            file,
            "select count(*) from (select iteration, count(*) as tasks from task join rank r on "
            "r.id = task.rank where r.number = 2 group by iteration) where tasks <> 32 and "
            "iteration < "
            "(select max(iteration) from task join rank r on r.id = task.rank where r.number = 2)"),
        0);
}

TEST(EndToEnd, FoldingHidesTheGradientSyncThatInterleavingLeavesExposed) {
    std::map<std::string, double> overlap;
    std::map<std::string, json> answers;
    for (const std::string schedule : {"interleaved", "folded"}) {
        const std::string file = temporaryPath("throttled.pleat");
        // Enough tokens that a chunk's sync is shorter than the other chunk's backward: only then
        // can folding hide it.
        std::vector<std::string> command =
            trainCommand(schedule, 12, {.microbatchSize = 4, .sequence = 64});
        command.insert(command.end(), {"--link-bandwidth", "40000000"});
        ASSERT_EQ(runProgram(recorded(file, command)).status, 0);
        // The first iterations warm up memory and connections.
        answers[schedule] = report(file, {"--iterations", "2:11"});
        for (const json& row : answers[schedule]["transfers"]) {
            if (row["dimension"] == "dp") overlap[schedule] = row["overlap_fraction"].get<double>();
        }
    }
    EXPECT_GT(overlap["folded"], overlap["interleaved"]);
    for (const json& chunk : answers["folded"]["gradient_sync"]) {
        if (chunk["chunk"] == 0) {
            EXPECT_LT(chunk["overlap_fraction"].get<double>(), 0.1);
        } else {
            // Measured: 0.44 to 0.60 in six runs of four ranks on two cores; the rest stays exposed
            // there.
            EXPECT_GT(chunk["overlap_fraction"].get<double>(), 0.25);
        }
    }
}

}  // namespace
}  // namespace pleat
