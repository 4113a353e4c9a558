// Whatever fails in the recorder or in what it loads into the program, the command runs to its own
// end and its status is returned; a recording that cannot start leaves nothing.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/reader.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace pleat {
namespace {

namespace fs = std::filesystem;

const std::string kPleat = PLEAT_BIN_DIR "/pleat";
const std::string kProgram = PLEAT_BIN_DIR "/nvtx_program";
using Variables = std::map<std::string, std::string>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanPreload = false;  // a sanitizer's own library has to come first
#else
constexpr bool kCanPreload = true;
#endif

#define SKIP_WHERE_NOTHING_IS_PRELOADED() \
    if (!kCanPreload) GTEST_SKIP() << "sanitizers replace the same functions"

Variables failing(const std::string& program, const std::string& what, long number) {
    return {{"LD_PRELOAD", PLEAT_FAILING_LIBRARY},
            {"FAIL_PROGRAM", program},
            {what, std::to_string(number)}};
}

struct Attempt {
    std::string folder = test::temporaryPath("recording");
    std::string file = folder + "/run.pleat";
    test::ProgramResult result;

    explicit Attempt(const std::vector<std::string>& command, const Variables& environment = {},
                     const std::vector<std::string>& options = {}) {
        fs::create_directory(folder);
        std::vector<std::string> all = {kPleat, "record", "-o", file};
        all.insert(all.end(), options.begin(), options.end());
        all.push_back("--");
        all.insert(all.end(), command.begin(), command.end());
        result = test::runProgram(all, environment);
    }
    [[nodiscard]] bool isEmpty() const { return fs::is_empty(folder); }
    [[nodiscard]] std::string value(const std::string& sql) const {
        std::string found;
        const auto asked =
            store::runSql(file, sql,
                          {[](const auto&) {},
                           [&](const store::SqlRow& row) { found = row[0].value_or("NULL"); }});
        return asked ? found : asked.error().message;
    }
    [[nodiscard]] long number(const std::string& sql) const {
        return std::atol(value(sql).c_str());
    }
};

// Every allocation near the start, then ever fewer: a recording makes some thousands.
std::vector<long> momentsToFail() {
    std::vector<long> moments;
    for (long moment = 1; moment < 40'000; moment += 1 + moment / 6) moments.push_back(moment);
    return moments;
}

void expectNothingLostButEvents(const std::string& kind) {
    int started = 0, refused = 0;
    for (const long moment : momentsToFail()) {
        const std::string marker = test::temporaryPath("command-ran");
        const Attempt attempt(
            {"sh", "-c", "touch " + marker + "; " + kProgram + " threads 1000; exit 7"},
            failing("pleat", kind, moment));
        const std::string where = kind + " " + std::to_string(moment);
        if (fs::exists(marker)) {
            ++started;
            EXPECT_EQ(attempt.result.status, 7) << where << ": " << attempt.result.errors;
            EXPECT_TRUE(fs::exists(attempt.file)) << where;
        } else {
            ++refused;
            EXPECT_EQ(attempt.result.status, 3) << where << ": " << attempt.result.errors;
            EXPECT_TRUE(attempt.isEmpty()) << where;
            EXPECT_EQ(std::count(attempt.result.errors.begin(), attempt.result.errors.end(), '\n'),
                      1)
                << attempt.result.errors;
            EXPECT_NE(attempt.result.errors.find("out of memory"), std::string::npos)
                << where << ": " << attempt.result.errors;
        }
    }
    EXPECT_GT(started, 10);
    EXPECT_GT(refused, 10);
}

TEST(RecordFailure, OneFailedAllocationNeverFailsTheCommand) {
    SKIP_WHERE_NOTHING_IS_PRELOADED();
    expectNothingLostButEvents("FAIL_ALLOCATION_AT");
}

// Once the program runs, moments depend on what the threads do first, so several are tried around
// where its process is met.
TEST(RecordFailure, WithoutMemoryForAProcessTheCommandGoesOn) {
    SKIP_WHERE_NOTHING_IS_PRELOADED();
    for (long moment = 3'001; moment < 3'060; ++moment) {
        const Attempt attempt({"sh", "-c", kProgram + " threads 1000; exit 7"},
                              failing("pleat", "FAIL_ALLOCATION_FROM", moment));
        EXPECT_TRUE(attempt.result.status == 7 || attempt.result.status == 3)
            << moment << ": " << attempt.result.status;
    }
}

TEST(RecordFailure, WithoutMemoryTheCommandGoesOn) {
    SKIP_WHERE_NOTHING_IS_PRELOADED();
    expectNothingLostButEvents("FAIL_ALLOCATION_FROM");
}

TEST(RecordFailure, AProgramWithoutMemoryForItsEventsGoesOn) {
    SKIP_WHERE_NOTHING_IS_PRELOADED();
    for (const char* kind : {"FAIL_ALLOCATION_AT", "FAIL_ALLOCATION_FROM"}) {
        for (long moment = 1; moment <= 60; ++moment) {
            Variables environment = failing("nvtx_program", kind, moment);
            // The program itself survives only what the library does not ask for.
            const Attempt attempt({kProgram, "callbacks"}, environment);
            const std::string where = std::string(kind) + " " + std::to_string(moment);
            EXPECT_EQ(attempt.result.status, 0) << where << ": " << attempt.result.errors;
            EXPECT_EQ(attempt.value("select value from meta where key = 'state'"), "complete");
            EXPECT_EQ(attempt.number("select count(*) from diagnostic where code = "
                                     "'unmatched_pop'"),
                      0)
                << where;
        }
    }
}

TEST(RecordFailure, AFullDiskStopsTheRecordingAndNotTheCommand) {
    SKIP_WHERE_NOTHING_IS_PRELOADED();
    const Attempt attempt({"sh", "-c", kProgram + " names 20000; exit 7"},
                          failing("pleat", "FAIL_DISK_AFTER", 400'000));
    EXPECT_EQ(attempt.result.status, 7);
    EXPECT_NE(attempt.result.errors.find("recording stopped"), std::string::npos)
        << attempt.result.errors;
    EXPECT_NE(attempt.result.errors.find("write_failed"), std::string::npos)
        << attempt.result.errors;
    const Attempt none({"sh", "-c", "exit 7"}, failing("pleat", "FAIL_DISK_AFTER", 5'000));
    EXPECT_EQ(none.result.status, 3) << none.result.errors;
    EXPECT_TRUE(none.isEmpty());
}

// ulimit counts blocks of 512 bytes. The command gets the limit as the recorder got it.
TEST(RecordFailure, ALimitOnFileSizesStopsTheRecordingAndNotTheCommand) {
    const std::string file = test::temporaryPath("limited.pleat");
    const auto result = test::runProgram({"sh", "-c",
                                          "ulimit -S -f 300; exec " + kPleat + " record -o " +
                                              file + " -- sh -c 'ulimit -S -f unlimited; " +
                                              kProgram + " names 20000; exit 7'"});
    EXPECT_EQ(result.status, 7) << result.errors;
    EXPECT_NE(result.errors.find("write_failed"), std::string::npos) << result.errors;
}

TEST(RecordFailure, NothingAllocatesBetweenForkAndExec) {
    SKIP_WHERE_NOTHING_IS_PRELOADED();
    for (const char* program : {"true", "/bin/true"}) {
        const Attempt attempt({program}, failing("pleat", "FAIL_CHILD_ALLOCATION", 1));
        EXPECT_EQ(attempt.result.status, 0) << attempt.result.errors;
    }
    const Attempt absent({"no-such-program"}, failing("pleat", "FAIL_CHILD_ALLOCATION", 1));
    EXPECT_EQ(absent.result.status, 127) << absent.result.errors;
}

TEST(RecordFailure, ProgramsAreFoundAsAShellFindsThem) {
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file("script"), "exit 5\n");  // no "#!": the shell's
    test::writeBytes(folder.file("data"), "not to be run\n");
    fs::permissions(folder.file("script"), fs::perms::owner_all);
    const auto withPath = [&](const std::string& path) { return Variables{{"PATH", path}}; };
    const std::string path = folder.file("").string();
    EXPECT_EQ(Attempt({"script"}, withPath("/nonexistent:" + path)).result.status, 5);
    EXPECT_EQ(Attempt({path + "/script"}).result.status, 5);
    EXPECT_EQ(Attempt({"data"}, withPath(path)).result.status, 126);
    EXPECT_EQ(Attempt({"data"}, withPath(path + ":/nonexistent")).result.status, 126);
    EXPECT_EQ(Attempt({"script"}, withPath("/nonexistent:/etc/passwd")).result.status, 127);
}

TEST(RecordFailure, TheCommandGetsTheSignalsAsTheyWere) {
    for (const char* ignored : {"PIPE", "XFSZ", "TERM"}) {
        const std::string file = test::temporaryPath("signals.pleat");
        const std::string caught = "grep -E 'SigIgn|SigBlk' /proc/self/status";
        const auto plain =
            test::runProgram({"sh", "-c", std::string("trap '' ") + ignored + "; " + caught});
        const auto recorded = test::runProgram({"sh", "-c",
                                                std::string("trap '' ") + ignored + "; " + kPleat +
                                                    " record -o " + file + " -- " + caught});
        EXPECT_EQ(recorded.output, plain.output) << ignored;
    }
}

TEST(RecordFailure, IgnoredChildrenAreWaitedFor) {
    const std::string file = test::temporaryPath("children.pleat");
    test::RunningProgram run(
        {PLEAT_IGNORING_CHILDREN, kPleat, "record", "-o", file, "--", "sh", "-c", "exit 7"});
    ASSERT_TRUE(run.waitFor(std::chrono::seconds(30)));
    EXPECT_EQ(run.status(), 7);
}

TEST(RecordFailure, AFailedStartLeavesNothingAndSaysWhyInOneLine) {
    const std::string missing = "/nonexistent/folder/run.pleat";
    const auto result = test::runProgram({kPleat, "record", "-o", missing, "--", "true"});
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(result.errors,
              "pleat: " + missing + ": cannot be created: No such file or directory\n");
    const Attempt absent({"/nonexistent/program"});
    EXPECT_TRUE(absent.isEmpty());
    EXPECT_EQ(absent.result.errors,
              "pleat: cannot start /nonexistent/program: No such file or directory\n");
}

}  // namespace
}  // namespace pleat
