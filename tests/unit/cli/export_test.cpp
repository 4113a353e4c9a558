// pleat export from file to file, and what it leaves behind when it cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schedule/generators.h"
#include "store/writer.h"
#include "support/run_program.h"
#include "support/synthetic_run.h"
#include "support/temporary_folder.h"

namespace pleat {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Export : public ::testing::Test {
  protected:
    void SetUp() override {
        testing::SyntheticOptions options;
        options.schedule = *schedule::makeSchedule("1f1b", {2, 4, 1, 0});
        options.forward = {{1'000}};
        options.backward = {{2'000}};
        const trace::Trace trace = testing::traceOf(testing::makeSyntheticRun(options));
        m_events = trace.eventCount();
        ASSERT_TRUE(store::writeTrace(trace, m_trace));
    }

    test::ProgramResult run(std::vector<std::string> options) {
        std::vector<std::string> words = {PLEAT_BIN_DIR "/pleat", "export", m_trace};
        words.insert(words.end(), options.begin(), options.end());
        return test::runProgram(words);
    }

    std::string file(const std::string& name) const { return m_folder.file(name); }

    [[nodiscard]] std::size_t filesLeft() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(m_folder.file("")), fs::directory_iterator()));
    }

    void expectRefused(const test::ProgramResult& result, int status, const std::string& words) {
        EXPECT_EQ(result.status, status);
        EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
        EXPECT_NE(result.errors.find(words), std::string::npos) << result.errors;
    }

    test::TemporaryFolder m_folder;
    std::string m_trace = m_folder.file("run.pleat");
    std::size_t m_events = 0;
};

TEST_F(Export, WritesChromeJsonToAFileAndToStandardOutput) {
    const auto toFile = run({"-o", file("run.json")});
    EXPECT_EQ(toFile.status, 0) << toFile.errors;
    EXPECT_EQ(toFile.output + toFile.errors, "");
    const std::string text = test::readBytes(file("run.json"));
    const json exported = json::parse(text);
    EXPECT_TRUE(exported["pleat"]["version"].is_string());
    const auto& entries = exported["traceEvents"];
    EXPECT_EQ(std::count_if(entries.begin(), entries.end(),
                            [](const json& e) { return e["ph"] == "X" || e["ph"] == "i"; }),
              static_cast<std::ptrdiff_t>(m_events));
    EXPECT_TRUE(std::any_of(entries.begin(), entries.end(), [](const json& e) {
        return e["name"] == "message";
    })) << "annotated on the way";
    EXPECT_EQ(run({"--format", "chrome"}).output, text);
    EXPECT_EQ(run({"-o", "-"}).output, text);
}

// Two files of a profiler that say when their time 0 was.
TEST_F(Export, AFolderKeepsTheOriginOfItsFiles) {
    fs::create_directory(file("ranks"));
    for (const std::string rank : {"0", "1"}) {
        test::writeBytes(
            file("ranks/rank" + rank + ".json"),
            R"({"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{"rank":)" + rank +
                R"(},"traceEvents":[{"ph":"X","cat":"cpu_op","name":"op","pid":7,"tid":7,"ts":)" +
                (rank == "0" ? "5000" : "5100") + R"(,"dur":10}]})");
    }
    const auto result = test::runProgram({PLEAT_BIN_DIR "/pleat", "export", file("ranks")});
    ASSERT_EQ(result.status, 0) << result.errors;
    const json exported = json::parse(result.output);
    ASSERT_TRUE(exported.contains("baseTimeNanoseconds")) << result.output.substr(0, 200);
    const auto origin = exported["baseTimeNanoseconds"].get<std::int64_t>();
    std::vector<double> moments;
    for (const json& entry : exported["traceEvents"])
        if (entry["name"] == "op") moments.push_back(entry["ts"].get<double>());
    ASSERT_EQ(moments.size(), 2U);
    EXPECT_EQ(origin + static_cast<std::int64_t>(moments[0] * 1'000), 1'700'000'000'005'000'000);
    EXPECT_EQ(origin + static_cast<std::int64_t>(moments[1] * 1'000), 1'700'000'000'005'100'000);
}

TEST_F(Export, WritesCsv) {
    const auto result = run({"--format", "csv"});
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_TRUE(result.output.starts_with("rank,lane,thread,")) << result.output;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'),
              static_cast<std::ptrdiff_t>(m_events) + 1);
}

TEST_F(Export, ReplacesAnEarlierExportAndKeepsALink) {
    test::writeBytes(file("old.json"), std::string(10'000'000, 'x'));
    fs::create_symlink("old.json", file("link.json"));
    EXPECT_EQ(run({"-o", file("link.json")}).status, 0);
    EXPECT_TRUE(fs::is_symlink(file("link.json")));
    EXPECT_TRUE(json::accept(test::readBytes(file("old.json"))));
}

TEST_F(Export, AnOutputThatCannotBeWrittenIsOneLineAndLeavesNothing) {
    const std::size_t before = filesLeft();
    expectRefused(run({"-o", file("absent/run.json")}), 3, "absent/run.json: cannot be written");
    expectRefused(run({"-o", file("")}), 3, "is a directory");
    expectRefused(run({"-o", "/dev/full"}), 3, "/dev/full: cannot be written: No space");
    expectRefused(run({"-o", m_trace}), 2, "is the trace itself");
    EXPECT_EQ(filesLeft(), before);
    EXPECT_EQ(run({}).status, 0) << "the trace is untouched";
}

TEST_F(Export, ADiskThatFillsUpLeavesTheEarlierExport) {
    test::writeBytes(file("run.json"), "earlier");
    const std::size_t before = filesLeft();
    // A limit on the size of files stands for the full disk.
    expectRefused(
        test::runProgram({"/bin/sh", "-c",
                          "trap '' XFSZ; ulimit -f 1; exec " PLEAT_BIN_DIR "/pleat export " +
                              m_trace + " -o " + file("run.json")}),
        3, "run.json: cannot be written: File too large");
    EXPECT_EQ(test::readBytes(file("run.json")), "earlier");
    EXPECT_EQ(filesLeft(), before);
}

TEST_F(Export, AnUnknownFormatIsWrongUsage) {
    expectRefused(run({"--format", "xml", "-o", file("run.xml")}), 2, "chrome");
    EXPECT_FALSE(fs::exists(file("run.xml")));
}

}  // namespace
}  // namespace pleat
