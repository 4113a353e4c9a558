// pleat diff as a person meets it: its arguments, statuses and formats.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli_support.h"
#include "support/run_program.h"

namespace pleat {
namespace {

test::ProgramResult diff(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "diff");
    return run(std::move(arguments));
}

// Timers of one stage and one microbatch, times in us; the first step is slow.
std::string stepsFile(const std::string& name, int steps, int forward, int first = 500) {
    const std::string file = test::temporaryPath(name);
    std::ofstream stream(file);
    stream
        << R"([{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"PP rank 0, TP rank 0"}})";
    int time = 0;
    for (int step = 0; step < steps; ++step) {
        const auto timer = [&](const char* kind, int length) {
            stream << fmt::format(
                R"(,{{"ph":"X","name":"{}-compute","pid":0,"tid":0,"ts":{},"dur":{},"args":{{"step":{},"mb_id":0,"seq_id":0}}}})",
                kind, time, length, step);
            time += length;
        };
        timer("forward", step == 0 ? first : forward);
        timer("backward", 200);
    }
    stream << "]";
    return file;
}

std::string textOf(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(Diff, SaysWhetherItGotBetterAndWhy) {
    const std::string base = stepsFile("before.json", 8, 100);
    const std::string other = stepsFile("after.json", 8, 80);
    const auto result = diff({base, other});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_TRUE(result.output.starts_with("NEW is faster: -0.020 ms (-6.7 %)")) << result.output;
    EXPECT_NE(result.output.find("stage 0 F"), std::string::npos) << result.output;
    EXPECT_TRUE(diff({base, base}).output.starts_with("BASE and NEW are the same"));
}

TEST(Diff, HasThreeFormatsAndWritesFiles) {
    const std::string base = stepsFile("before.json", 8, 100);
    const std::string other = stepsFile("after.json", 8, 80);
    const auto json = nlohmann::json::parse(diff({base, other, "--format", "json"}).output);
    EXPECT_EQ(json["schema"], "pleat-diff/1");
    EXPECT_EQ(json["verdict"], "faster");
    const std::string file = test::temporaryPath("change.md");
    const auto written = diff({base, other, "--format", "markdown", "-o", file});
    EXPECT_EQ(written.status, 0) << written.errors;
    EXPECT_EQ(written.output, "");
    EXPECT_TRUE(textOf(file).starts_with("**NEW is faster:")) << textOf(file);
}

TEST(Diff, IterationsAreChosenForBothOrForTheNewRunAlone) {
    const std::string base = stepsFile("before.json", 8, 100);
    const std::string other = stepsFile("after.json", 12, 100);
    const auto indices = [&](const std::vector<std::string>& options, const char* run) {
        std::vector<std::string> words = {base, other, "--format", "json"};
        words.insert(words.end(), options.begin(), options.end());
        const auto result = diff(words);
        EXPECT_EQ(result.status, 0) << result.errors;
        return nlohmann::json::parse(result.output)[run]["iterations"]["indices"]
            .get<std::vector<int>>();
    };
    EXPECT_EQ(indices({}, "base").size(), 8U);
    EXPECT_EQ(indices({"--iterations", "1:5"}, "new"), (std::vector<int>{1, 2, 3, 4, 5}));
    const std::vector<std::string> both = {"--iterations", "1:5", "--new-iterations", "7:11"};
    EXPECT_EQ(indices(both, "base"), (std::vector<int>{1, 2, 3, 4, 5}));
    EXPECT_EQ(indices(both, "new"), (std::vector<int>{7, 8, 9, 10, 11}));
}

TEST(Diff, OneIterationCannotTell) {
    const auto result = diff({stepsFile("one.json", 1, 100), stepsFile("two.json", 2, 100)});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_TRUE(
        result.output.starts_with("Cannot tell whether NEW is faster: BASE has 1 iteration "
                                  "and NEW 2"))
        << result.output;
}

TEST(Diff, EachRunMayBeAFolder) {
    const std::string folder = test::temporaryPath("run");
    mkdir(folder.c_str(), 0700);
    const std::string base = stepsFile("before.json", 8, 100);
    std::ofstream(folder + "/rank0.json") << textOf(base);
    const auto result = diff({base, folder});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_TRUE(result.output.starts_with("BASE and NEW are the same")) << result.output;
    expectOneLine(diff({base, folder, "-o", folder + "/rank0.json"}), 2, "is the trace itself");
    expectOneLine(diff({base, folder, "-o", base}), 2, "is the trace itself");
}

TEST(Diff, ARankIsGivenToTheRunThatHasTheFile) {
    const std::string file = test::temporaryPath("kernel.json");
    std::ofstream(file)
        << R"([{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":15,"dur":80,)"
           R"("args":{"stream":7}}])";
    const std::string folder = test::temporaryPath("pair");
    mkdir(folder.c_str(), 0700);
    for (const char* name : {"/a.json", "/b.json"}) std::ofstream(folder + name) << textOf(file);
    expectOneLine(diff({folder, folder}), 3, "(--rank " + folder + "/a.json=0)");
    const auto numbered =
        diff({folder, folder, "--rank", folder + "/a.json=0", "--rank", folder + "/b.json=1"});
    EXPECT_EQ(numbered.errors.find("number each"), std::string::npos) << numbered.errors;
    expectOneLine(diff({folder, folder, "--rank", "other.json=1"}), 2,
                  "other.json: a rank is given for it, but it is not among the files");
}

TEST(Diff, WhatCannotBeComparedIsSaidInOneLine) {
    const std::string base = stepsFile("before.json", 8, 100);
    expectOneLine(diff({base}), 2, "NEW is required");
    expectOneLine(diff({base, base, "--new-iteration", "1:2"}), 2,
                  "did you mean --new-iterations?");
    expectOneLine(diff({base, base, "--format", "html"}), 2, "html");
    expectOneLine(diff({base, base, "--new-iterations", "3:1"}), 2,
                  "--new-iterations: 3:1: expected A:B");
    expectOneLine(diff({base, base, "--new-iterations", "20:30"}), 2,
                  "no iteration in 20:30 was recorded; the trace has 0:7");
    expectOneLine(diff({base, "/nonexistent.pleat"}), 3, "/nonexistent.pleat: no such file");
    const std::string empty = test::temporaryPath("empty.json");
    std::ofstream(empty) << "[]";
    expectOneLine(diff({base, empty}), 3, "empty.json: ");
    expectOneLine(diff({base, base, "--rules", "/nonexistent"}), 3, "/nonexistent");
}

}  // namespace
}  // namespace pleat
