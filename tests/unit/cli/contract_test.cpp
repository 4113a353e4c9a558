// The contract of docs/command_line.md, a row per command: which options it takes, and that an
// option which several commands take means the same in each.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli_support.h"
#include "support/run_program.h"

namespace pleat {
namespace {

using Words = std::vector<std::string>;

struct Command {
    std::string name;
    std::set<std::string> options;  // "-h,--help" apart
};

std::set<std::string> with(std::set<std::string> options, const std::set<std::string>& more) {
    options.insert(more.begin(), more.end());
    return options;
}

const std::set<std::string> kReading = {"--rank FILE=N", "--rules FILE"};
const std::set<std::string> kQuestion = with(kReading, {"--format text|json", "-o,--output FILE"});
const std::set<std::string> kSchedule = {"--file FILE",      "--schedule NAME", "--ranks P",
                                         "--microbatches M", "--chunks V",      "--group G",
                                         "-o,--output FILE"};

const std::vector<Command>& commands() {
    static const std::vector<Command> all = {
        {"record",
         {"-o,--output FILE", "--domain NAME", "--no-nvtx", "--delay SECONDS", "--duration SECONDS",
          "--max-size BYTES", "--flush-ms N"}},
        {"import", with(kReading, {"-o,--output FILE (required)"})},
        {"merge", with(kReading, {"-o,--output FILE (required)"})},
        {"info", kQuestion},
        {"report", with(kQuestion, {"--iterations A:B", "--all-ranks"})},
        {"critical-path", with(kQuestion, {"--iteration N", "--of-rank N"})},
        {"whatif",
         with(kQuestion, {"--iterations A:B", "--ideal KEY", "--scale KEY=FACTOR", "--keep KEY"})},
        {"diff", with(kReading, {"--format text|json|markdown", "-o,--output FILE",
                                 "--iterations A:B", "--new-iterations A:B"})},
        {"export", with(kReading, {"--format chrome|csv", "-o,--output FILE"})},
        {"schedule list", {"--format text|json", "-o,--output FILE"}},
        {"schedule show", kSchedule},
        {"schedule validate", kSchedule},
        {"schedule convert", with(kSchedule, {"--communication"})},
        {"schedule simulate", with(kSchedule, {"--forward TIME", "--backward TIME", "--weight TIME",
                                               "--p2p TIME", "--sync TIME", "--format text|json"})},
        {"sql", {}},
        {"view", with(kReading, {"--with FILE"})},
    };
    return all;
}

Words split(const std::string& text) {
    std::istringstream stream(text);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::string help(const std::string& command) {
    return run(split(command) + Words{"--help"}).output;
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first);
}

// Option with its type → what the help says of it, on one line.
std::map<std::string, std::string> optionsOf(const std::string& command) {
    std::map<std::string, std::string> options;
    std::istringstream lines(help(command));
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  -")) {
            const std::size_t gap = line.find("  ", 2);
            last = line.substr(2, gap - 2);
            options[last] = gap == std::string::npos ? "" : trimmed(line.substr(gap));
        } else if (line.starts_with("    ") && !last.empty()) {
            options[last] += (options[last].empty() ? "" : " ") + trimmed(line);
        } else {
            last.clear();
        }
    }
    options.erase("-h,--help");
    return options;
}

std::string nameIn(const std::string& option) {
    return option.substr(option.find("--"),
                         option.find(' ', option.find("--")) - option.find("--"));
}

bool takes(const Command& command, const std::string& name) {
    for (const std::string& option : command.options)
        if (nameIn(option) == name) return true;
    return false;
}

// A trace that every command can use: timers of four steps, of one stage and one microbatch.
std::string traceFile() {
    const std::string file = test::temporaryPath("steps.json");
    std::ofstream stream(file);
    stream << R"([{"ph":"M","name":"thread_name","pid":0,"tid":0,)"
              R"("args":{"name":"PP rank 0, TP rank 0"}})";
    for (int step = 0; step < 4; ++step) {
        for (const char* kind : {"forward", "backward"}) {
            stream << R"(,{"ph":"X","name":")" << kind << R"(-compute","pid":0,"tid":0,"ts":)"
                   << step * 200 + (*kind == 'b' ? 100 : 0) << R"(,"dur":100,"args":{"step":)"
                   << step << R"(,"mb_id":0,"seq_id":0}})";
        }
    }
    stream << "]";
    return file;
}

// The command on the trace, as far as it takes one.
Words call(const Command& command, const std::string& trace) {
    Words words = split(command.name);
    if (command.name == "record") return words;
    if (!command.name.starts_with("schedule")) words.push_back(trace);
    if (command.name == "diff") words.push_back(trace);
    return words;
}

std::string textOf(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(Contract, EveryCommandTakesItsOptionsAndNoOther) {
    for (const Command& command : commands()) {
        std::set<std::string> shown;
        for (const auto& [option, words] : optionsOf(command.name)) shown.insert(option);
        EXPECT_EQ(shown, command.options) << command.name;
    }
}

TEST(Contract, EveryCommandIsInTheTable) {
    std::set<std::string> known, shown;
    for (const Command& command : commands()) known.insert(split(command.name).front());
    std::istringstream lines(help(""));
    bool listed = false;
    for (std::string line; std::getline(lines, line);) {
        if (listed && line.starts_with("  ") && line[2] != ' ') shown.insert(split(line).front());
        listed = listed ? !line.empty() : line == "Commands:";
    }
    EXPECT_EQ(shown, known);
}

TEST(Contract, ASharedOptionIsDescribedInTheSameWords) {
    std::map<std::string, std::set<std::string>> words;
    for (const Command& command : commands())
        for (const auto& [option, does] : optionsOf(command.name))
            words[nameIn(option)].insert(does);
    for (const char* option : {"--rank", "--rules", "--iterations", "--ranks", "--schedule"})
        EXPECT_EQ(words[option].size(), 1U) << option;
    // An answer may go to standard output; a *.pleat file cannot, and has a default in `record`.
    EXPECT_EQ(words["--output"].size(), 3U);
    EXPECT_EQ(words["--format"].size(), 2U);  // chrome is the default of `export`
}

TEST(Contract, TheDocumentNamesEveryOption) {
    const std::string document = textOf(PLEAT_SOURCE_DIR "/docs/command_line.md");
    for (const Command& command : commands()) {
        if (command.name.starts_with("schedule")) continue;  // docs/schedules.md
        const std::size_t row = document.find("| `pleat " + command.name);
        ASSERT_NE(row, std::string::npos) << command.name;
        const std::string text = document.substr(row, document.find('\n', row) - row);
        for (const std::string& option : command.options) {
            const std::string name = nameIn(option);
            const bool ofEveryTrace = kReading.contains(option);
            EXPECT_NE((ofEveryTrace ? document : text).find(name == "--output" ? "-o " : name),
                      std::string::npos)
                << command.name << " " << name;
        }
    }
    const std::string schedules = textOf(PLEAT_SOURCE_DIR "/docs/schedules.md");
    for (const Command& command : commands()) {
        if (!command.name.starts_with("schedule")) continue;
        for (const std::string& option : command.options)
            EXPECT_NE(schedules.find(nameIn(option) == "--output" ? "-o " : nameIn(option)),
                      std::string::npos)
                << option;
    }
}

TEST(Contract, OutputGoesToAFileOrToStandardOutput) {
    const std::string trace = traceFile();
    for (const Command& command : commands()) {
        if (!command.options.contains("-o,--output FILE") || command.name == "record") continue;
        const Words words = call(command, trace);
        const auto plain = run(words);
        EXPECT_EQ(plain.status, 0) << command.name << plain.errors;
        EXPECT_NE(plain.output, "") << command.name;
        EXPECT_EQ(run(words + Words{"-o", "-"}).output, plain.output) << command.name;
        const std::string file = test::temporaryPath("answer");
        const auto written = run(words + Words{"-o", file});
        EXPECT_EQ(written.status, 0) << command.name << written.errors;
        EXPECT_EQ(written.output, "") << command.name;
        EXPECT_EQ(textOf(file), plain.output) << command.name;
        if (command.name.starts_with("schedule")) continue;
        expectOneLine(run(words + Words{"-o", trace}), 2, "is the trace itself");
    }
}

TEST(Contract, ATraceFileCannotGoToStandardOutput) {
    const std::string trace = traceFile();
    for (const char* command : {"import", "merge"})
        expectOneLine(run({command, trace, "-o", "-"}), 2, "cannot go to standard output");
    expectOneLine(run({"record", "-o", "-", "--", "true"}), 2, "cannot go to standard output");
}

TEST(Contract, EveryFormatOfEveryCommandWorksAndNoOther) {
    const std::string trace = traceFile();
    for (const Command& command : commands()) {
        for (const std::string& option : command.options) {
            if (nameIn(option) != "--format") continue;
            const Words words = call(command, trace) + Words{"--format"};
            std::istringstream formats(option.substr(option.find(' ') + 1));
            for (std::string format; std::getline(formats, format, '|');) {
                const auto answer = run(words + Words{format});
                EXPECT_EQ(answer.status, 0) << command.name << format << answer.errors;
                if (format != "json") continue;
                EXPECT_TRUE(answer.output.starts_with("{\n  \"schema\": \"pleat-"))
                    << answer.output;
            }
            expectOneLine(run(words + Words{"jsn"}), 2, "--format: jsn: expected ");
        }
    }
}

TEST(Contract, HowATraceIsReadIsCheckedAlikeEverywhere) {
    const std::string trace = traceFile();
    for (const Command& command : commands()) {
        if (!takes(command, "--rank") || command.name == "view") continue;
        Words words = call(command, trace);
        if (command.options.contains("-o,--output FILE (required)"))
            words = words + Words{"-o", test::temporaryPath("new.pleat")};
        expectOneLine(run(words + Words{"--rank", "x"}), 2, "--rank: x: expected FILE=N");
        expectOneLine(run(words + Words{"--rank", "x=1"}), 2,
                      "x: a rank is given for it, but it is not among the files to read");
        expectOneLine(run(words + Words{"--rules", "/nonexistent"}), 3, "/nonexistent");
        EXPECT_EQ(run(words + Words{"--rank", trace + "=0"}).status, 0) << command.name;
    }
    expectOneLine(run({"view", trace, "--rank", "x"}), 2, "--rank: x: expected FILE=N");
}

TEST(Contract, IterationsAreReadAlikeEverywhere) {
    const std::string trace = traceFile();
    for (const Command& command : commands()) {
        if (!takes(command, "--iterations")) continue;
        const Words words = call(command, trace) + Words{"--iterations"};
        for (const char* wrong : {"3:1", "a", "1:", "-1", "1:2,x"})
            expectOneLine(run(words + Words{wrong}), 2, "expected A:B with A <= B");
        expectOneLine(run(words + Words{"20:30"}), 2, "no iteration in 20:30");
        EXPECT_EQ(run(words + Words{"1,2:3"}).status, 0) << command.name;
        EXPECT_EQ(run(words + Words{"1", "--iterations", "2"}).status, 0) << command.name;
    }
}

TEST(Contract, HelpFitsTheTerminalAndHasAnExample) {
    for (const int width : {50, 80, 132}) {
        for (const Command& command : commands()) {
            const auto shown = test::runProgram(
                Words{PLEAT_BIN_DIR "/pleat"} + split(command.name) + Words{"--help"},
                {{"COLUMNS", std::to_string(width)}});
            EXPECT_EQ(shown.status, 0);
            bool example = false;
            std::istringstream lines(shown.output);
            for (std::string line; std::getline(lines, line);) {
                const bool copied = line.starts_with("Example: pleat " + command.name);
                example = example || copied;
                EXPECT_TRUE(copied || line.size() <= static_cast<std::size_t>(width))
                    << command.name << ": " << line;
            }
            EXPECT_TRUE(example) << shown.output;
        }
    }
}

TEST(Contract, TimesAreNanosecondsOrHaveAUnit) {
    const auto makespan = [](const std::string& forward) {
        return run({"schedule", "simulate", "--ranks", "1", "--microbatches", "1", "--backward",
                    "0", "--forward", forward, "--format", "json"})
            .output;
    };
    const std::string expected = makespan("1500000");
    EXPECT_NE(expected.find("\"makespan_ns\": 1500000"), std::string::npos) << expected;
    for (const char* same : {"1500000ns", "1500us", "1.5ms", "0.0015s", "1.5e6"})
        EXPECT_EQ(makespan(same), expected) << same;
    for (const char* wrong : {"-1", "x", "1.5m", "1 ms", "2000s", "nan"})
        expectOneLine(run({"schedule", "simulate", "--sync", wrong}), 2, "expected a time");
}

}  // namespace
}  // namespace pleat
