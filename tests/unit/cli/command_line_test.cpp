// The command line as a person meets it: statuses and one-line errors of docs/command_line.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "support/run_program.h"

namespace pleat {
namespace {

test::ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PLEAT_BIN_DIR "/pleat");
    return test::runProgram(arguments);
}

void expectOneLine(const test::ProgramResult& result, int status, const std::string& words) {
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
}

TEST(CommandLine, AMistypedWordIsNamedWithTheNearestKnownOne) {
    expectOneLine(run({"schedul", "show"}), 2,
                  "unknown command \"schedul\"; did you mean schedule?");
    expectOneLine(run({"schedule", "shwo"}), 2, "unknown command \"shwo\"; did you mean show?");
    expectOneLine(run({"schedule", "show", "--rank", "4"}), 2, "did you mean --ranks?");
    expectOneLine(run({"schedule", "show", "--schedule", "fodled"}), 2, "did you mean folded?");
}

TEST(CommandLine, AMissingWordIsSaid) {
    expectOneLine(run({}), 2, "subcommand is required");
    expectOneLine(run({"report"}), 2, "trace is required");
}

TEST(CommandLine, AFileThatCannotBeUsedIsStatusThree) {
    const std::string text = test::temporaryPath("text");
    std::ofstream(text) << "not a trace";
    for (const char* command : {"info", "report", "critical-path", "export", "sql"}) {
        expectOneLine(run({command, "/nonexistent.pleat"}), 3, "/nonexistent.pleat: no such file");
        const bool imports = std::string(command) != "sql";
        expectOneLine(run({command, text}), 3, imports ? "is no trace" : "is not a Pleat trace");
    }
    expectOneLine(run({"info", "/nonexistent.json"}), 3, "/nonexistent.json: cannot be opened");
    expectOneLine(run({"info", text, "--rank", "x=3"}), 2, "not among the files");
    expectOneLine(run({"info", text, "--rank", text}), 2, "expected FILE=N");
    expectOneLine(run({"schedule", "show", "--file", "/nonexistent.csv"}), 3, "cannot be read");
}

TEST(CommandLine, AnInvalidScheduleIsTheAnswerNo) {
    const std::string file = test::temporaryPath("cycle.csv");
    std::ofstream(file) << "0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0\n";
    const auto result = run({"schedule", "validate", "--file", file});
    EXPECT_EQ(result.status, 1);
    EXPECT_NE(result.output.find("invalid"), std::string::npos) << result.output;
    EXPECT_NE(result.output.find("!1F1"), std::string::npos) << result.output;
}

TEST(CommandLine, EveryHelpShowsAnExample) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{},
                                                    {"info"},
                                                    {"import"},
                                                    {"report"},
                                                    {"critical-path"},
                                                    {"export"},
                                                    {"sql"},
                                                    {"schedule"},
                                                    {"schedule", "show"},
                                                    {"schedule", "validate"},
                                                    {"schedule", "convert"},
                                                    {"schedule", "simulate"}}) {
        std::vector<std::string> words = command;
        words.push_back("--help");
        const auto result = run(words);
        EXPECT_EQ(result.status, 0);
        EXPECT_NE(result.output.find("Example: pleat "), std::string::npos) << result.output;
    }
}

}  // namespace
}  // namespace pleat
