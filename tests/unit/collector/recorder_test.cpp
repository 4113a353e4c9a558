// The recorder with real programs: what they mark is in the file, whole.
#include "collector/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/reader.h"
#include "support/run_program.h"

namespace pleat::collector {
namespace {

const std::string kProgram = PLEAT_BIN_DIR "/nvtx_program";
const std::string kPleat = PLEAT_BIN_DIR "/pleat";

struct Recording {
    test::ProgramResult result;
    std::string file;

    std::vector<std::string> query(const std::string& sql) const {
        std::vector<std::string> lines;
        const auto done =
            store::runSql(file, sql,
                          {[](const auto&) {},
                           [&](const store::SqlRow& row) {
                               std::string line;
                               for (const auto& cell : row) {
                                   line += (line.empty() ? "" : "|") + cell.value_or("NULL");
                               }
                               lines.push_back(line);
                           }});
        EXPECT_TRUE(done.ok()) << (done ? "" : done.error().message);
        return lines;
    }
    std::int64_t number(const std::string& sql) const {
        const auto lines = query(sql);
        return lines.empty() ? -1 : std::atoll(lines[0].c_str());
    }
};

// Through the program `pleat record`, as people run it.
Recording recordProgram(const std::vector<std::string>& command,
                        const std::vector<std::string>& options = {},
                        const std::map<std::string, std::string>& environment = {}) {
    Recording recording;
    recording.file = test::temporaryPath("recording.pleat");
    std::vector<std::string> all = {kPleat, "record", "-o", recording.file};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), command.begin(), command.end());
    recording.result = test::runProgram(all, environment);
    return recording;
}

using Lines = std::vector<std::string>;

TEST(Record, NestedRangesOfSeveralThreadsAreAllThere) {
    const Recording r = recordProgram({kProgram, "threads", "10000"});
    ASSERT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(r.number("select count(*) from event"), 4 * 10'000);
    EXPECT_EQ(r.query("select thread_lanes, name, events from (select count(distinct lane) as "
                      "thread_lanes, name, count(*) "
                      "as events from named_event group by name) order by name"),
              (Lines{"4|inner|20000", "4|outer|20000"}));
}

TEST(Record, LossesAreCountedExactly) {
    const Recording r = recordProgram({kProgram, "threads", "400000"});
    ASSERT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(
        r.number("select count(*) from event") +
            r.number("select coalesce(sum(count), 0) from diagnostic where code = 'dropped_event'"),
        4 * 400'000);
}

TEST(Record, ARangeMayEndOnAnotherThread) {
    const Recording r = recordProgram({kProgram, "crossing"});
    EXPECT_EQ(r.query("select s.text, kind, end_ns > start_ns from event e join string s on s.id = "
                      "name order by start_ns"),
              (Lines{"crossing|0|1", "on the other thread|1|0"}));
}

TEST(Record, DomainsRegisteredWideBrokenAndChangingTextsArrive) {
    const Recording r = recordProgram({kProgram, "text"});
    EXPECT_EQ(
        r.query("select coalesce(domain, '-'), name, coalesce(args, '-') from named_event order by "
                "start_ns"),
        (Lines{"own domain|registered|{\"payload\":-7}", "-|wide \u00e4\u4e16|-",
               "-|bad \xef\xbf\xbd utf8 \"quoted\"|-", "-|name 0|-", "-|name 1|-", "-|name 2|-"}));
    EXPECT_EQ(r.query("select name from lane"), Lines{"chief"});
}

TEST(Record, APayloadOfARegisteredSchemaBecomesJson) {
    const Recording r = recordProgram({kProgram, "payload"});
    EXPECT_EQ(r.query("select args, args ->> 'iteration' from event"),
              Lines{"{\"iteration\":3,\"loss\":0.5,\"text\":\"a\\\"b\",\"fixed\":\"dp\"}|3"});
}

TEST(Record, OpenRangesAreKeptAndUnmatchedPopsCounted) {
    const Recording r = recordProgram({kProgram, "unbalanced"});
    EXPECT_EQ(
        r.query("select s.text, flag from event e join string s on s.id = name order by start_ns"),
        (Lines{"open at exit|1", "closed|0"}));
    EXPECT_EQ(r.number("select count from diagnostic where code = 'unmatched_pop'"), 1);
    EXPECT_EQ(r.number("select count from diagnostic where code = 'open_range'"), 1);
}

TEST(Record, EverythingWrittenBeforeASigkillIsThere) {
    const Recording r = recordProgram({kProgram, "killed", "5000"});
    EXPECT_EQ(r.result.status, 128 + 9);
    EXPECT_EQ(r.number("select count(*) from event"), 5'000);
    EXPECT_EQ(r.query("select end from rank"), Lines{"killed"});
    EXPECT_EQ(r.number("select count from diagnostic where code = 'process_killed'"), 1);
}

// bad-inputs 56
TEST(Record, AForkedChildRecordsUnderItsOwnProcess) {
    const Recording r = recordProgram({kProgram, "fork"});
    ASSERT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(r.number("select count(*) from rank"), 2);
    EXPECT_EQ(
        r.query("select n.name from named_event n join lane l on l.id = n.lane where l.rank = "
                "(select l2.rank from "
                "named_event c join lane l2 on l2.id = c.lane where c.name = 'child')"),
        Lines{"child"});
    EXPECT_EQ(r.number("select count(*) from event"), 3);
}

TEST(Record, AForkedChildKeepsTheHandlesOfItsParent) {
    const Recording r = recordProgram({kProgram, "handles"});
    ASSERT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(r.query("select coalesce(domain, '-'), name, args ->> 'iteration' from "
                      "named_event order by start_ns"),
              (Lines{"of the parent|registered|NULL", "of the parent|registered|5",
                     "-|new in the child|NULL"}));
    EXPECT_EQ(r.query("select code from diagnostic"), Lines{});
}

TEST(Record, AHelperForkedByARankIsNotThatRank) {
    setenv("RANK", "3", 1);
    const Recording r = recordProgram({kProgram, "fork"});
    unsetenv("RANK");
    EXPECT_EQ(r.query("select number from rank order by number is null"), (Lines{"3", "NULL"}));
}

TEST(Record, TheVariablesOfALauncherNumberRanksWhereNothingElseDoes) {
    setenv("SLURM_PROCID", "5", 1);
    const Recording alone = recordProgram({kProgram, "fork"});
    const Recording below = recordProgram(
        {"sh", "-c", std::string(kProgram) + " text; RANK=3 " + std::string(kProgram) + " text"});
    unsetenv("SLURM_PROCID");
    EXPECT_EQ(alone.query("select number from rank order by number is null"), (Lines{"5", "NULL"}));
    EXPECT_EQ(below.query("select number from rank order by number is null"), (Lines{"3", "NULL"}));
}

TEST(Record, AnExecBeginsAnotherProcessOfTheSameNumber) {
    const Recording r = recordProgram({kProgram, "exec"});
    EXPECT_EQ(r.query("select count(*), count(distinct pid) from rank where end = 'exited'"),
              Lines{"2|1"});
    EXPECT_EQ(r.number("select count(*) from named_event where name in ('first image', "
                       "'registered')"),
              2);
}

TEST(Record, LeavingByUnderscoreExitIsNotBeingKilled) {
    const Recording r = recordProgram({kProgram, "leave", "5"});
    EXPECT_EQ(r.result.status, 5);
    EXPECT_EQ(r.query("select end from rank"), Lines{"exited"});
    EXPECT_EQ(r.query("select code from diagnostic"), Lines{});
}

TEST(Record, MoreNamesThanCanBeNumberedTravelWithTheirEvents) {
    const Recording r = recordProgram({kProgram, "names", "60000"});
    ASSERT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(r.number("select count(distinct name) from named_event where name like 'step %'") +
                  r.number("select coalesce(sum(count), 0) from diagnostic where code = "
                           "'dropped_event'"),
              60'000);
    EXPECT_GT(r.number("select count(distinct name) from named_event"), 33'000);
    EXPECT_EQ(r.number("select count(*) from named_event where name = '' and domain is null"), 0);
    EXPECT_EQ(r.number("select count(*) from named_event where domain = 'late domain'"), 1);
    EXPECT_EQ(r.query("select end from rank"), Lines{"exited"});
}

TEST(Record, RingsOfEndedThreadsAreGivenBackOnBothSides) {
    const Recording r = recordProgram({kProgram, "short", "200"});
    EXPECT_EQ(r.result.output, "2 2\n");  // of the process and of its main thread
    EXPECT_EQ(r.number("select count(*) from event"), 201);
    EXPECT_EQ(r.number("select count(*) from lane"), 201);
}

TEST(Record, DeepRangesAreRecordedToADepthAndThenCounted) {
    const Recording r = recordProgram({kProgram, "deep", "300"});
    EXPECT_EQ(r.number("select count(*) from event where flag = 0"), 256);
    EXPECT_EQ(r.query("select code, count from diagnostic"), Lines{"too_deep_range|44"});
}

TEST(Record, PayloadsOfStartsAndEndsArriveAndLargeOnesAreCounted) {
    const Recording r = recordProgram({kProgram, "extended"});
    EXPECT_EQ(r.query("select kind, coalesce(args ->> 'loss', '-') from event order by start_ns"),
              (Lines{"0|0.25", "0|0.25", "1|-"}));
    EXPECT_EQ(r.query("select code, count from diagnostic"), Lines{"dropped_payload|1"});
}

TEST(Record, CategoriesArriveByNameOrNumber) {
    const Recording r = recordProgram({kProgram, "categories"});
    EXPECT_EQ(r.query("select args from event order by start_ns"),
              (Lines{"{\"category\":\"kernel\"}", "{\"category\":8}"}));
}

TEST(Record, TheClockIsSampledFromTheFirstMomentToTheLast) {
    const Recording r = recordProgram({kProgram, "pairs"});
    EXPECT_EQ(r.query("select min(trace_ns) = 0, max(trace_ns) >= (select max(end_ns) from event) "
                      "from clock_sample"),
              Lines{"1|1"});
}

TEST(Record, ManyShortForkedChildrenAreAllThere) {
    const Recording r = recordProgram({kProgram, "children", "400"});
    EXPECT_EQ(r.number("select count(*) from event where end_ns > start_ns"), 400);
    EXPECT_EQ(r.number("select count(*) from rank"), 400);
}

TEST(Record, AFileSizeLimitOfTheProgramDoesNotKillIt) {
    const Recording r = recordProgram({"sh", "-c", "ulimit -f 1; exec " + kProgram + " exit 7"});
    EXPECT_EQ(r.result.status, 7);
    const Recording marks = recordProgram({"sh", "-c", "ulimit -f 1; exec " + kProgram + " pairs"});
    EXPECT_EQ(marks.result.status, 0);
    EXPECT_NE(marks.result.errors.find("process_not_recorded"), std::string::npos)
        << marks.result.errors;
    // With room for a small ring everything is there.
    const Recording small =
        recordProgram({"sh", "-c", "ulimit -f 200; exec " + kProgram + " names 300"});
    EXPECT_EQ(small.number("select count(distinct name) from named_event where name like 'step%'"),
              300);
}

TEST(Record, WhatALimitLeftOutIsSaid) {
    const Recording size = recordProgram({kProgram, "names", "20000"}, {"--max-size", "200000"});
    const std::int64_t kept = size.number("select count(*) from event");
    EXPECT_LT(kept, 20'000);
    EXPECT_EQ(kept + size.number("select sum(count) from diagnostic where code in "
                                 "('outside_recording', 'dropped_event')"),
              20'001);
    EXPECT_LT(std::filesystem::file_size(size.file), 500'000U);
    const Recording late = recordProgram({kProgram, "pairs"}, {"--delay", "60"});
    EXPECT_EQ(late.number("select count from diagnostic where code = 'outside_recording'"), 10);
    EXPECT_NE(late.result.errors.find("no event after the delay"), std::string::npos);
}

TEST(Record, ADomainThatIsNeverUsedIsSaidWithThoseThatAre) {
    const Recording r = recordProgram({kProgram, "text"}, {"--domain", "own domian"});
    EXPECT_NE(r.result.errors.find("(own domian); the programs used own domain"), std::string::npos)
        << r.result.errors;
}

TEST(Record, ACutNameIsCounted) {
    const Recording r = recordProgram({kProgram, "long"});
    EXPECT_EQ(r.query("select length(name) from named_event"), Lines{"4096"});
    EXPECT_EQ(r.query("select code, count from diagnostic"), Lines{"cut_name|1"});
}

TEST(Record, WhereTheCommandCannotStartNoFileIsLeft) {
    const Recording r = recordProgram({"/nonexistent/program"});
    EXPECT_EQ(r.result.status, 127);
    EXPECT_FALSE(std::filesystem::exists(r.file));
}

TEST(Record, ARecorderThatNobodyHearsGoesOn) {
    for (const char* closed : {"2>/dev/full", "2>&-"}) {
        const std::string file = test::temporaryPath("unheard.pleat");
        const auto result = test::runProgram(
            {"sh", "-c", kPleat + " record -o " + file + " -- sh -c 'exit 7' " + closed});
        EXPECT_EQ(result.status, 7) << closed;
    }
}

TEST(Record, TheCommandsExitStatusIsOurs) {
    EXPECT_EQ(recordProgram({kProgram, "exit", "37"}).result.status, 37);
    EXPECT_EQ(recordProgram({"/nonexistent/program"}).result.status, 127);
    EXPECT_EQ(recordProgram({"/etc/passwd"}).result.status, 126);
    EXPECT_EQ(recordProgram({"sh", "-c", "kill -TERM $$"}).result.status, 128 + 15);
}

TEST(Record, AProgramWithoutNvtxIsSaidSo) {
    const Recording r = recordProgram({"true"});
    EXPECT_EQ(r.result.status, 0);
    EXPECT_NE(r.result.errors.find("no_process_recorded"), std::string::npos);
    EXPECT_EQ(r.query("select value from meta where key = 'state'"), Lines{"complete"});
}

TEST(Record, OnlyTheDomainsAskedForAreRecorded) {
    const Recording r = recordProgram({kProgram, "text"}, {"--domain", "own domain"});
    EXPECT_EQ(r.query("select s.text from event e join string s on s.id = e.name"),
              Lines{"registered"});
}

// bad-inputs 59
TEST(Record, WhyNoWorkOfAGpuIsThereStandsInMeta) {
    const Recording r = recordProgram({kProgram, "threads", "100"});
    ASSERT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(r.number("select count(*) from event"), 4 * 100);
    const Lines state = r.query("select value from meta where key = 'gpu'");
    ASSERT_EQ(state.size(), 1U);
    if (state[0] != "unavailable:999" && state[0] != "unavailable:no_cupti")
        GTEST_SKIP() << "this machine says " << state[0];
    EXPECT_EQ(r.number("select value from meta where key = 'cupti_version'") > 0,
              state[0] == "unavailable:999");
    // Nobody misses a GPU here.
    EXPECT_EQ(r.query("select code from diagnostic"), Lines{});
}

// bad-inputs 54
TEST(Record, AnotherToolOnTheGpuIsSaidAndTheCommandGoesOn) {
    const Recording r =
        recordProgram({kProgram, "exit", "7"}, {},
                      {{"LD_LIBRARY_PATH", PLEAT_MADE_CUPTI_DIR}, {"MADE_CUPTI", "39"}});
    EXPECT_EQ(r.result.status, 7);
    EXPECT_EQ(r.query("select key, value from meta where key in ('gpu', 'cupti_version')"),
              (Lines{"cupti_version|120400", "gpu|unavailable:39"}));
    EXPECT_EQ(r.query("select severity, count, example like '%nsys%' from diagnostic where code = "
                      "'gpu_not_recorded'"),
              Lines{"info|1|1"});
}

TEST(Record, ACuptiThatCrashesHurtsNothing) {
    const Recording r =
        recordProgram({kProgram, "threads", "100"}, {},
                      {{"LD_LIBRARY_PATH", PLEAT_MADE_CUPTI_DIR}, {"MADE_CUPTI", "crash"}});
    EXPECT_EQ(r.result.status, 0) << r.result.errors;
    EXPECT_EQ(r.number("select count(*) from event"), 4 * 100);
    EXPECT_EQ(r.query("select value from meta where key = 'gpu'"), Lines{"unavailable:no_answer"});
}

// bad-inputs 54
TEST(Record, ARecorderInsideARecorderTakesItsProgramsAndBothSaySo) {
    const std::string inner = test::temporaryPath("inner.pleat");
    const Recording outer = recordProgram(
        {kPleat, "record", "-o", inner, "--", "sh", "-c", kProgram + " threads 100; exit 5"});
    EXPECT_EQ(outer.result.status, 5);
    const Recording whole{{}, inner};
    EXPECT_EQ(whole.number("select count(*) from event"), 4 * 100);
    EXPECT_EQ(whole.query("select code from diagnostic"), Lines{"other_tool_replaced"});
    EXPECT_EQ(outer.number("select count(*) from event"), 0);
    EXPECT_EQ(outer.query("select severity, code, count from diagnostic"),
              Lines{"data_loss|recorded_by_another|1"});
    EXPECT_NE(outer.result.errors.find("recorded its programs to " + inner), std::string::npos)
        << outer.result.errors;
    EXPECT_EQ(outer.query("select value from meta where key = 'state'"), Lines{"complete"});
}

TEST(Record, ARecorderInsideThatStartsNothingTakesNothing) {
    const std::string inner = test::temporaryPath("inner.pleat");
    const Recording outer =
        recordProgram({"sh", "-c",
                       kPleat + " record -o " + inner + " -- /nonexistent/program; exec " +
                           kProgram + " threads 100"});
    EXPECT_EQ(outer.result.status, 0);
    EXPECT_EQ(outer.number("select count(*) from event"), 4 * 100);
    EXPECT_EQ(outer.query("select code from diagnostic"), Lines{});
}

TEST(Record, AnExistingFileIsNeverOverwritten) {
    Recording r = recordProgram({kProgram, "pairs"});
    const auto again = test::runProgram({kPleat, "record", "-o", r.file, "--", kProgram, "pairs"});
    EXPECT_EQ(again.status, 3);
    EXPECT_NE(again.errors.find("already exists"), std::string::npos) << again.errors;
}

}  // namespace
}  // namespace pleat::collector
