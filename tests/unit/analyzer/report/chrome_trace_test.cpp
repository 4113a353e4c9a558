// Chrome JSON as its readers take it: a golden file, and the rules of Perfetto's importer on random
// traces. After an intended change: PLEAT_UPDATE_GOLDEN=1 build/release/bin/report_test, and read
// the difference.
#include "report/chrome_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "exported_traces.h"
#include "report_runs.h"

namespace pleat::report {
namespace {

using nlohmann::json;

struct Written {
    std::string text;
    base::Diagnostics leftOut;
    std::size_t largestPiece = 0;
};

Written write(const trace::Trace& trace, std::optional<std::int64_t> originUnixNs = {}) {
    Written result;
    const auto left = writeChromeTrace(trace, {"1.2.3", originUnixNs}, [&](std::string_view text) {
        result.text += text;
        result.largestPiece = std::max(result.largestPiece, text.size());
        return base::Result<void>();
    });
    EXPECT_TRUE(left);
    if (left) result.leftOut = *left;
    return result;
}

std::int64_t countOf(const base::Diagnostics& diagnostics, std::string_view code) {
    const base::Diagnostic* entry = diagnostics.find(code);
    return entry == nullptr ? 0 : entry->count;
}

// As Perfetto reads a time: a double, rounded.
std::int64_t nanoseconds(const json& microseconds) {
    return std::llround(microseconds.get<double>() * 1000.0);
}

// Reads a trace by the rules of Perfetto's importer: entries in order of time, those of one moment
// in the file's order; a slice has to lie within the open ones of its thread; an arrow's end needs
// a slice there, its begin comes first.
class Reader {
  public:
    explicit Reader(const json& file) {
        std::vector<json> entries;
        for (const json& entry : file["traceEvents"]) {
            if (entry["ph"] == "M") {
                readMetadata(entry);
            } else {
                entries.push_back(entry);
            }
        }
        std::stable_sort(entries.begin(), entries.end(), [](const json& a, const json& b) {
            return nanoseconds(a["ts"]) < nanoseconds(b["ts"]);
        });
        for (const json& entry : entries) read(entry);
        EXPECT_EQ(begun, ended);
    }

    std::size_t slices = 0, instants = 0, open = 0;
    std::set<std::int64_t> begun, ended;  // arrows
    std::optional<std::int64_t> earliest;
    std::map<std::int64_t, std::string> processNames, threadNames;

  private:
    struct Slice {
        std::int64_t begin, end;
    };

    void readMetadata(const json& entry) {
        const std::int64_t process = entry["pid"], thread = entry["tid"];
        if (entry["name"] == "process_name") {
            EXPECT_TRUE(processNames.emplace(process, entry["args"]["name"]).second);
        } else if (entry["name"] == "thread_name") {
            EXPECT_TRUE(threadNames.emplace(thread, entry["args"]["name"]).second);
            m_processOf[thread] = process;
        } else {
            EXPECT_TRUE(entry["args"]["sort_index"].is_number_integer());
        }
    }

    void read(const json& entry) {
        const std::int64_t thread = entry["tid"], time = nanoseconds(entry["ts"]);
        ASSERT_TRUE(threadNames.contains(thread)) << entry;
        EXPECT_EQ(m_processOf[thread], entry["pid"]);
        EXPECT_FALSE(processNames.contains(thread)) << "a thread is not named like a process";
        EXPECT_GE(time, 0);
        if (!earliest) earliest = time;
        if (entry["ph"] == "X") {
            ++slices;
            open += entry.contains("args") && entry["args"].value("open", json()) == true;
            push(thread, {time, time + nanoseconds(entry["dur"])}, entry);
        } else if (entry["ph"] == "i") {
            ++instants;
            EXPECT_EQ(entry["s"], "t");
            push(thread, {time, time}, entry);
        } else {
            readArrow(thread, time, entry);
        }
        if (entry["ph"] == "X" || entry["ph"] == "i") {
            EXPECT_NE(entry["cat"], "");
            EXPECT_TRUE(!entry.contains("args") || entry["args"].is_object()) << entry;
        }
    }

    void push(std::int64_t thread, Slice slice, const json& entry) {
        std::vector<Slice>& stack = m_stacks[thread];
        const auto isOver = [&](const Slice& outer) {
            const bool bothEmpty = outer.begin == outer.end && slice.begin == slice.end;
            return outer.end < slice.begin || (outer.end == slice.begin && !bothEmpty);
        };
        while (!stack.empty() && isOver(stack.back())) stack.pop_back();
        for (const Slice& outer : stack)
            EXPECT_GE(outer.end, slice.end) << entry << " overlaps without nesting";
        EXPECT_LT(stack.size(), 512u) << "too deep";
        stack.push_back(slice);
        if (entry["ph"] == "X") m_slices[thread].push_back(slice);
    }

    void readArrow(std::int64_t thread, std::int64_t time, const json& entry) {
        const std::int64_t id = entry["id"];
        const bool inside = std::any_of(
            m_slices[thread].begin(), m_slices[thread].end(),
            [&](const Slice& slice) { return slice.begin <= time && time <= slice.end; });
        EXPECT_TRUE(inside) << entry << " lies in no slice";
        EXPECT_FALSE(m_stacks[thread].empty());
        if (entry["ph"] == "s") {
            EXPECT_TRUE(begun.insert(id).second) << "two arrows have one number";
        } else {
            EXPECT_EQ(entry["ph"], "f");
            EXPECT_EQ(entry["bp"], "e");
            EXPECT_TRUE(begun.contains(id)) << entry << " ends before it begins";
            EXPECT_TRUE(ended.insert(id).second);
        }
    }

    std::map<std::int64_t, std::vector<Slice>> m_stacks, m_slices;  // [thread]
    std::map<std::int64_t, std::int64_t> m_processOf;
};

TEST(ChromeTrace, OfASmallTrace) {
    const Written written = write(testing::smallTrace(), 1'700'000'000'000'000'000);
    const std::string path = PLEAT_SOURCE_DIR "/tests/golden/chrome_small.json";
    if (std::getenv("PLEAT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << written.text;
    std::ostringstream golden;
    golden << std::ifstream(path).rdbuf();
    EXPECT_EQ(written.text, golden.str()) << path;
    EXPECT_EQ(countOf(written.leftOut, "arguments_left_out"), 1);
    EXPECT_EQ(countOf(written.leftOut, "arrow_left_out"), 0);
}

TEST(ChromeTrace, OfAnythingReadsWithoutAnImportError) {
    std::size_t overlaps = 0, arrows = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const trace::Trace trace = testing::RandomTraces(seed).make();
        const Written written = write(trace);
        const json file = json::parse(written.text);  // refuses what is not UTF-8
        const Reader reader(file);
        std::size_t marks = 0, open = 0;
        for (std::size_t i = 0; i < trace.eventCount(); ++i) {
            const trace::Event event = trace.event(trace::EventId::at(i));
            const bool mark = event.kind == trace::EventKind::Mark;
            marks += mark;
            open += !mark && event.flag == trace::EventFlag::OpenAtEnd;
        }
        EXPECT_EQ(reader.instants, marks);
        EXPECT_EQ(reader.slices, trace.eventCount() - marks);
        EXPECT_EQ(reader.open, open);
        EXPECT_EQ(reader.earliest.value_or(0), 0);
        EXPECT_EQ(reader.processNames.size(), trace.ranks().size());
        EXPECT_EQ(static_cast<std::int64_t>(reader.begun.size()) +
                      countOf(written.leftOut, "arrow_left_out"),
                  static_cast<std::int64_t>(trace.dependencies().size() +
                                            trace.annotations().matches.size()));
        overlaps += reader.threadNames.size() - trace.lanes().size();
        arrows += reader.begun.size();
        if (HasFailure()) break;
    }
    EXPECT_GT(overlaps, 100u);
    EXPECT_GT(arrows, 100u);
}

TEST(ChromeTrace, OfAPipelineRunHasAnArrowForEveryMessage) {
    const trace::Trace trace = testing::foldedRun();
    const Written written = write(trace);
    const Reader reader(json::parse(written.text));
    EXPECT_EQ(reader.slices + reader.instants, trace.eventCount());
    EXPECT_EQ(reader.threadNames.size(), trace.lanes().size()) << "nothing overlaps here";
    std::size_t messages = 0;
    for (const trace::Transfer& transfer : trace.annotations().transfers)
        messages += transfer.operation == trace::Operation::Send && transfer.match.valid();
    EXPECT_GT(messages, 0u);
    EXPECT_EQ(reader.begun.size(), messages);
    EXPECT_EQ(reader.processNames.at(4), "rank 3 (dp 1, pp 1)");
}

TEST(ChromeTrace, ComesInPiecesWhateverTheSize) {
    trace::TraceBuilder builder;
    const trace::LaneId lane = builder.addLane({builder.addRank({}), {}, 1, "main"});
    const base::StringId name = builder.intern("an event");
    for (std::int64_t i = 0; i < 20'000; ++i)
        builder.addEvent({lane, name, {}, {}, {}, {{i * 10}, {i * 10 + 5}}});
    const Written written = write(std::move(builder).build().trace);
    EXPECT_GT(written.text.size(), 1'000'000u);
    EXPECT_LT(written.largestPiece, 80'000u);
}

TEST(ChromeTrace, KeepsStacksAsDeepAsPerfettoDrawsThem) {
    trace::TraceBuilder builder;
    const trace::LaneId lane = builder.addLane({builder.addRank({}), {}, 1, "main"});
    for (std::int64_t i = 0; i < 1'500; ++i)
        builder.addEvent({lane, builder.intern("deep"), {}, {}, {}, {{i}, {10'000 - i}}});
    const Reader reader(json::parse(write(std::move(builder).build().trace).text));
    EXPECT_EQ(reader.slices, 1'500u);
    EXPECT_EQ(reader.threadNames.size(), 3u);
}

TEST(ChromeTrace, StopsWhenTheSinkRefuses) {
    int pieces = 0;
    const auto written =
        writeChromeTrace(testing::foldedRun(), {"1.2.3", {}}, [&](std::string_view) {
            ++pieces;
            return base::Result<void>(base::Error{base::ErrorCode::Io, "full"});
        });
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "full");
    EXPECT_EQ(pieces, 1);
}

TEST(ChromeTrace, OfNothingIsATrace) {
    const Reader reader(json::parse(write(trace::TraceBuilder().build().trace, 5).text));
    EXPECT_EQ(reader.slices, 0u);
}

}  // namespace
}  // namespace pleat::report
