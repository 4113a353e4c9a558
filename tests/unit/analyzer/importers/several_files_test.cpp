// Several files as one trace, each longer than the pieces that files are read in: the next file is
// begun while the one before is brought to its end, and a bad one is still the one that is named.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/analyzer/importers/imported.h"

namespace pleat::importers {
namespace {

namespace fs = std::filesystem;

constexpr int kEvents = 60'000;  // about five megabytes: ten pieces

// `field` names the start: "ts", or what no reader knows.
std::string longFile(int rank, const char* field) {
    std::string text =
        fmt::format(R"({{"distributedInfo": {{"rank": {}}}, "traceEvents": [)", rank);
    for (int i = 0; i < kEvents; ++i) {
        text +=
            fmt::format(R"({}{{"ph": "X", "cat": "cpu_op", "name": "r{}e{}", "pid": 1, "tid": 1, )"
                        R"("{}": {}, "dur": 1}})",
                        i == 0 ? "" : ",\n", rank, i % 7, field, 10 * i);
    }
    return text + "]}";
}

class SeveralFiles : public ::testing::Test {
  protected:
    base::Result<trace::Trace> import(const std::vector<std::string>& texts) {
        std::vector<fs::path> files;
        for (const std::string& text : texts) {
            files.push_back(m_folder.file(fmt::format("file{}.json", files.size())));
            if (!text.empty()) test::writeBytes(files.back(), text);
        }
        return importTraces(files);
    }

  private:
    const test::TemporaryFolder m_folder;
};

TEST_F(SeveralFiles, AreEachReadToTheirEnd) {
    const auto trace = import({longFile(2, "ts"), longFile(0, "ts"), longFile(1, "ts")});
    ASSERT_TRUE(trace) << messageOf(trace);
    ASSERT_EQ(trace->eventCount(), 3U * kEvents);
    ASSERT_EQ(trace->ranks().size(), 3U);
    std::vector<int> ofRank(3, 0);
    for (std::size_t i = 0; i < trace->eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const trace::RankId rank = trace->lanes()[trace->event(id).lane].rank;
        const std::int32_t number = trace->ranks()[rank].number;
        ASSERT_TRUE(trace->name(id).starts_with(fmt::format("r{}e", number))) << trace->name(id);
        ++ofRank[static_cast<std::size_t>(number)];
    }
    EXPECT_EQ(ofRank, std::vector<int>(3, kEvents));
}

TEST_F(SeveralFiles, OneThatIsRefusedAtItsEndIsNamedThoughTheNextIsBegun) {
    const auto trace = import({longFile(0, "ts"), longFile(1, "when"), longFile(2, "ts")});
    ASSERT_FALSE(trace);
    EXPECT_NE(messageOf(trace).find("file1.json: holds no trace events"), std::string::npos)
        << messageOf(trace);
}

TEST_F(SeveralFiles, OneThatIsMissingIsNamedAfterThoseBeforeItAreRead) {
    const auto trace = import({longFile(0, "ts"), "", longFile(2, "ts")});
    ASSERT_FALSE(trace);
    EXPECT_NE(messageOf(trace).find("file1.json: cannot be opened"), std::string::npos)
        << messageOf(trace);
}

TEST_F(SeveralFiles, OneThatIsNoTraceIsNamedThoughItWasBegunEarly) {
    const auto trace = import({longFile(0, "ts"), "[1, 2, 3]", longFile(2, "ts")});
    ASSERT_FALSE(trace);
    EXPECT_NE(messageOf(trace).find("file1.json: holds no trace events: it is a JSON array"),
              std::string::npos)
        << messageOf(trace);
}

}  // namespace
}  // namespace pleat::importers
