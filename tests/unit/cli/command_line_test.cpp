// The command line as a person meets it: statuses and one-line errors of docs/command_line.md.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli_support.h"
#include "support/run_program.h"

namespace pleat {
namespace {

TEST(CommandLine, AMistypedWordIsNamedWithTheNearestKnownOne) {
    expectOneLine(run({"schedul", "show"}), 2,
                  "unknown command \"schedul\"; did you mean schedule?");
    expectOneLine(run({"schedule", "shwo"}), 2, "unknown command \"shwo\"; did you mean show?");
    expectOneLine(run({"schedule", "show", "--rank", "4"}), 2, "did you mean --ranks?");
    expectOneLine(run({"schedule", "show", "--schedule", "fodled"}), 2, "did you mean folded?");
}

TEST(CommandLine, AMissingWordIsSaid) {
    expectOneLine(run({}), 2, "a command is required");
    expectOneLine(run({"report"}), 2, "TRACE is required");
}

TEST(CommandLine, AFileThatCannotBeUsedIsStatusThree) {
    const std::string text = test::temporaryPath("text");
    std::ofstream(text) << "not a trace";
    for (const char* command : {"info", "report", "critical-path", "whatif", "export", "sql"}) {
        expectOneLine(run({command, "/nonexistent.pleat"}), 3, "/nonexistent.pleat: no such file");
        const bool imports = std::string(command) != "sql";
        expectOneLine(run({command, text}), 3, imports ? "is not a trace file" : "is not a Pleat trace");
    }
    expectOneLine(run({"info", "/nonexistent.json"}), 3, "/nonexistent.json: cannot be opened");
    expectOneLine(run({"info", text, "--rank", "x=3"}), 2, "not among the files");
    expectOneLine(run({"info", text, "--rank", text}), 2, "expected FILE=N");
    expectOneLine(run({"schedule", "show", "--file", "/nonexistent.csv"}), 3, "cannot be read");
}

TEST(CommandLine, AnAnswerThatCannotBeWrittenIsNoSuccess) {
    const std::string pleat = PLEAT_BIN_DIR "/pleat";
    for (const char* command : {"schedule show", "schedule validate", "schedule simulate"}) {
        for (const char* closed : {">/dev/full", ">&-"}) {
            const auto result =
                test::runProgram({"sh", "-c", pleat + " " + command + " " + closed});
            EXPECT_EQ(result.status, 3) << command << closed;
            EXPECT_NE(result.errors.find("cannot be written"), std::string::npos) << result.errors;
        }
    }
    EXPECT_EQ(test::runProgram({"sh", "-c", pleat + " info /nonexistent 2>/dev/full"}).status, 3);
}

TEST(CommandLine, AnEmptyValueIsNoDefault) {
    expectOneLine(run({"schedule", "simulate", "--file", ""}), 2, "--file: an empty value");
    expectOneLine(run({"report", "x.pleat", "--iterations", ""}), 2, "an empty value");
    expectOneLine(run({"record", "--delay", "nan", "--", "true"}), 2, "a number of seconds");
    expectOneLine(run({"record", "--"}), 2, "a command is missing after --");
}

TEST(CommandLine, IterationsAreRangesOrNumbers) {
    for (const char* wrong : {"3:1", "a", "1:", "-1", "1:2,x"}) {
        expectOneLine(run({"report", "x.pleat", "--iterations", wrong}), 2,
                      "expected A:B with A <= B");
    }
}

TEST(CommandLine, WhatIfTakesKeysAndFactors) {
    for (const char* wrong : {"F", "F=", "=2", "F=2x", "F=fast"})
        expectOneLine(run({"whatif", "x.pleat", "--scale", wrong}), 2, "expected KEY=FACTOR");
    expectOneLine(run({"whatif", "x.pleat", "--ideal", ""}), 2, "an empty value");
    expectOneLine(run({"whatif", "x.pleat", "--iterations", "b"}), 2, "expected A:B");

    const std::string file = test::temporaryPath("step.json");
    std::ofstream(file)
        << R"([{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"PP rank 0, TP rank 0"}},)"
        << R"({"ph":"X","name":"forward-compute","pid":0,"tid":0,"ts":0,"dur":10,"args":{"step":1,"mb_id":0,"seq_id":0}},)"
        << R"({"ph":"X","name":"backward-compute","pid":0,"tid":0,"ts":10,"dur":20,"args":{"step":1,"mb_id":0,"seq_id":0}}])";
    expectOneLine(run({"whatif", file, "--ideal", "stagee:0"}), 2, "did you mean stage:0?");
    expectOneLine(run({"whatif", file, "--scale", "F=-1"}), 2, "a factor is from 0 to 1000");
    const auto result = run({"whatif", file, "--scale", "B=0.5", "--scale", "F=2"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_NE(result.output.find("Prediction: 0.030 ms, 0.0 % less"), std::string::npos)
        << result.output;
}

TEST(CommandLine, TheTraceItselfIsNeverTheOutput) {
    const std::string file = test::temporaryPath("trace.json");
    std::ofstream(file) << "[]";
    expectOneLine(run({"report", file, "-o", file}), 2, "is the trace itself");
    expectOneLine(run({"import", file, "-o", file}), 2, "is the trace itself");
    const std::string folder = test::temporaryPath("ranks");
    mkdir(folder.c_str(), 0700);
    std::ofstream(folder + "/rank0.json") << "[]";
    expectOneLine(run({"export", "--format", "csv", folder, "-o", folder + "/rank0.json"}), 2,
                  "is the trace itself");
    expectOneLine(run({"report", folder, "--rules", file, "-o", file}), 2, "is the rules file");
}

TEST(CommandLine, APipeIsNoTrace) {
    const std::string pipe = test::temporaryPath("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    expectOneLine(run({"info", pipe}), 3, "is not a regular file");
    expectOneLine(run({"sql", pipe, "select 1"}), 3, "is not a regular file");
}

TEST(CommandLine, ScheduleSizesHaveBounds) {
    expectOneLine(run({"schedule", "show", "--ranks", "4000"}), 2, "at most 1024 ranks");
    expectOneLine(run({"schedule", "simulate", "--ranks", "1", "--chunks", "65536"}), 2,
                  "4096 stages");
    const std::string lines = test::temporaryPath("lines.csv");
    std::ofstream(lines) << std::string(100'000, '\n');
    expectOneLine(run({"schedule", "validate", "--file", lines}), 3, "more than 2048 lines");
    expectOneLine(run({"schedule", "validate", "--file", "/dev/zero"}), 3, "exceeds the 64 MiB limit");
}

// A profiler's file of one rank: a call, its kernel, and a wait for it.
std::string kernelTrace(const std::string& name) {
    const std::string file = test::temporaryPath(name);
    std::ofstream(file) << R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":10,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":15,"dur":80,"args":{"correlation":1,"stream":7}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":9,"tid":9,"ts":20,"dur":80}]})";
    return file;
}

TEST(CommandLine, WithoutTasksTheCriticalPathIsThatOfARank) {
    const std::string file = kernelTrace("alone.json"), other = kernelTrace("other.json");
    const auto alone = run({"critical-path", file, "--rank", file + "=3"});
    EXPECT_EQ(alone.status, 0);
    EXPECT_NE(alone.output.find("Critical path of rank 3 in iteration 0: 0.090 ms"),
              std::string::npos)
        << alone.output;
    EXPECT_NE(alone.output.find("kernel 0.080 ms"), std::string::npos) << alone.output;
    const std::vector<std::string> both = {"critical-path", file,     other,       "--rank",
                                           file + "=0",     "--rank", other + "=1"};
    expectOneLine(run(both), 2, "choose a rank: 0, 1 (--of-rank 0)");
    std::vector<std::string> chosen = both;
    chosen.insert(chosen.end(), {"--of-rank", "1"});
    EXPECT_NE(run(chosen).output.find("Critical path of rank 1"), std::string::npos);
    chosen.back() = "7";
    expectOneLine(run(chosen), 2, "rank 7: no device work was recorded");
}

TEST(CommandLine, AnInvalidScheduleIsTheAnswerNo) {
    const std::string file = test::temporaryPath("cycle.csv");
    std::ofstream(file) << "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n";
    const auto result = run({"schedule", "validate", "--file", file});
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.output.find("invalid"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("!1F1"), std::string::npos) << result.output;
}

// A folder with this program and, if there is a script, that in the viewer's place.
std::string installedWith(const std::string& viewer) {
    const std::string folder = test::temporaryPath(viewer.empty() ? "bare" : "whole");
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(PLEAT_BIN_DIR "/pleat", folder + "/pleat");
    if (viewer.empty()) return folder;
    std::ofstream(folder + "/pleat-gui") << viewer;
    std::filesystem::permissions(folder + "/pleat-gui", std::filesystem::perms::owner_all);
    return folder;
}

TEST(CommandLine, ViewBecomesTheViewerBesideIt) {
    const auto missing = test::runProgram({installedWith("") + "/pleat", "view", "x.pleat"});
    expectOneLine(missing, 3, "the viewer is not installed");
    const std::string folder = installedWith("#!/bin/sh\necho \"$@\"\nexit 7\n");
    const auto shown = test::runProgram({folder + "/pleat", "view", "a.json", "b.json", "--rank",
                                         "a.json=1", "--rules", "r.json", "--with", "new.json"});
    EXPECT_EQ(shown.status, 7);
    EXPECT_EQ(shown.output, "--rank a.json=1 --with new.json --rules r.json -- a.json b.json\n");
}

}  // namespace
}  // namespace pleat
