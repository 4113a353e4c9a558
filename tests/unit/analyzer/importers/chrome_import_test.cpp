// Chrome JSON as programs write it, whole and broken. Rows of what broke other tools stand with
// their tests.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "importers/byte_source.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::importers {
namespace {

using Lines = std::vector<std::string>;

std::string event(const std::string& name, double start, double duration,
                  const std::string& more = "") {
    return fmt::format(R"({{"ph":"X","name":"{}","pid":1,"tid":1,"ts":{},"dur":{}{}}})", name,
                       start, duration, more);
}

trace::Trace imported(const std::string& text) {
    auto result = importText(text);
    if (!result) {
        ADD_FAILURE() << result.error().message;
        return std::move(trace::TraceBuilder()).build().trace;
    }
    return std::move(*result);
}

Lines linesFrom(const std::string& text) { return linesOf(imported(text)); }

TEST(ChromeImport, ReadsAListAndAnObject) {
    const Lines expected = {"a 0+2000", "b 1000+500"};
    const std::string events = event("a", 10, 2) + "," + event("b", 11, 0.5);
    EXPECT_EQ(linesFrom("[" + events + "]"), expected);
    EXPECT_EQ(linesFrom("{\"traceEvents\":[" + events + "]}"), expected);
    EXPECT_EQ(linesFrom("\xEF\xBB\xBF {\"x\":[{\"traceEvents\":1}], \"traceEvents\" : [ " + events +
                        ",\n ], \"otherData\": {\"version\": \"[\"}}"),
              expected);
}

TEST(ChromeImport, BeginsAndEndsArePairedByStackAndName) {
    const auto half = [](const char* ph, const char* name, int time) {
        return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}}})", ph, name, time);
    };
    EXPECT_EQ(linesFrom("[" + half("B", "out", 1) + "," + half("B", "in", 2) + "," +
                        half("E", "", 3) + "," + half("E", "out", 5) + "]"),
              (Lines{"out 0+4000", "in 1000+1000"}));
    const trace::Trace crossing =
        imported("[" + half("B", "a", 1) + "," + half("B", "b", 2) + "," + half("E", "a", 3) + "," +
                 half("E", "b", 4) + "," + half("E", "c", 5) + "," + half("B", "d", 6) + "]");
    EXPECT_EQ(linesOf(crossing), (Lines{"a 0+2000", "b 1000+2000", "d 5000+0..."}));
    EXPECT_EQ(countOf(crossing, "crossing_ranges"), 1);
    EXPECT_EQ(countOf(crossing, "unmatched_end"), 1);
    EXPECT_EQ(countOf(crossing, "open_range"), 1);
}

std::string halvesOf(const std::vector<std::pair<const char*, const char*>>& halves) {
    std::vector<std::string> events;
    for (const auto& [phase, name] : halves)
        events.push_back(fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}}})", phase,
                                     name, events.size()));
    return fmt::format("[{}]", fmt::join(events, ","));
}

// As the format defines it, names of ends decide nothing: "begin step" ends as "end step".
TEST(ChromeImport, AnEndOfAnotherNamePairsByNesting) {
    const trace::Trace trace = imported(halvesOf({{"B", "begin step"},
                                                  {"B", "begin load"},
                                                  {"E", "end load"},
                                                  {"E", "end step"},
                                                  {"B", "begin step"},
                                                  {"E", "end step"}}));
    EXPECT_EQ(linesOf(trace),
              (Lines{"begin step 0+3000", "begin load 1000+1000", "begin step 4000+1000"}));
    EXPECT_EQ(countOf(trace, "end_of_other_name"), 3);
    EXPECT_EQ(countOf(trace, "open_range") + countOf(trace, "unmatched_end"), 0);
}

// A lost begin costs its own range, not that of the one around it, whose own end still comes.
TEST(ChromeImport, AnEndWhoseBeginWasLostEndsNothing) {
    const trace::Trace trace =
        imported(halvesOf({{"B", "out"}, {"E", "in"}, {"B", "in"}, {"E", "in"}, {"E", "out"}}));
    EXPECT_EQ(linesOf(trace), (Lines{"out 0+4000", "in 2000+1000"}));
    EXPECT_EQ(countOf(trace, "unmatched_end"), 1);
    EXPECT_EQ(countOf(trace, "end_of_other_name"), 0);
}

TEST(ChromeImport, AnEndMayStandBeforeItsBegin) {
    EXPECT_EQ(linesFrom(R"([{"ph":"E","name":"a","pid":1,"tid":1,"ts":9},
                            {"ph":"B","name":"a","pid":1,"tid":1,"ts":4}])"),
              Lines{"a 0+5000"});
}

TEST(ChromeImport, ArgumentsOfTheEndBelongToTheRange) {
    const trace::Trace trace = imported(
        R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":4,"args":{"x": 1}},
            {"ph":"E","name":"a","pid":1,"tid":1,"ts":9,"args":{"loss": 0.5}}])");
    EXPECT_EQ(trace.arguments(trace::EventId(0)), R"({"x":1,"loss":0.5})");
}

TEST(ChromeImport, FlowsBecomeDependencies) {
    const trace::Trace trace =
        imported("[" + event("a", 0, 4) + "," + event("b", 10, 4) +
                 R"(,{"ph":"s","cat":"x","id":7,"name":"f","pid":1,"tid":1,"ts":2},
            {"ph":"f","bp":"e","cat":"x","id":7,"name":"f","pid":1,"tid":1,"ts":11},
            {"ph":"s","cat":"x","id":8,"name":"f","pid":1,"tid":1,"ts":2}])");
    ASSERT_EQ(trace.dependencies().size(), 1U);
    EXPECT_EQ(trace.dependencies()[0], (trace::Dependency{trace::EventId(0), trace::EventId(1),
                                                          trace::DependencyKind::Flow}));
    EXPECT_EQ(countOf(trace, "half_flow"), 1);
}

// Unescaped quotes made the whole file invalid for others; here they cost one event.
// bad-inputs 1
TEST(ChromeImport, ADamagedEventCostsItself) {
    const std::string bad =
        R"({"ph":"X","name":"{"device": "cpu"}(12): run","pid":1,"tid":1,"ts":1,"dur":1})";
    const trace::Trace trace = imported("[" + event("a", 0, 1) + "," + bad + "," +
                                        event("b", 5, 1) + "," + event("c", 7, 1) + "]");
    EXPECT_EQ(linesOf(trace), (Lines{"a 0+1000", "b 5000+1000", "c 7000+1000"}));
    ASSERT_EQ(countOf(trace, "damaged_event"), 1);
    EXPECT_NE(trace.diagnostics().find("damaged_event")->example.find("byte"), std::string::npos);
}

// bad-inputs 1
TEST(ChromeImport, AnOddQuoteDoesNotSwallowTheRest) {
    const std::string bad = R"({"ph":"X","name":"od"d","pid":1,"tid":1,"ts":1,"dur":1})";
    const trace::Trace trace =
        imported("{\"traceEvents\":[" + event("a", 0, 1) + ",\n" + bad + ",\n" +
                 event("b", 5, 1, R"(,"args":{"name":"nested"})") + ",\n" + event("c", 7, 1) +
                 "],\"distributedInfo\":{\"rank\":3}}");
    EXPECT_EQ(linesOf(trace), (Lines{"a 0+1000", "b 5000+1000", "c 7000+1000"}));
    EXPECT_EQ(countOf(trace, "damaged_event"), 1);
}

// bad-inputs 7
TEST(ChromeImport, TwoInterleavedWritersCostWhatTheyBroke) {
    const trace::Trace trace =
        imported("[" + event("a", 0, 1) + R"(,{"name": "Memory: gpu/5", "cat": "Dev    )" +
                 event("b", 5, 1) + "," + event("c", 7, 1) + "]");
    EXPECT_EQ(linesOf(trace), (Lines{"a 0+1000", "b 5000+1000", "c 7000+1000"}));
    EXPECT_EQ(countOf(trace, "damaged_event"), 1);
}

// Each would be searched to the end of the file: a minute for every MiB.
TEST(ChromeImport, EventsThatNeverEndDoNotHideTheRest) {
    constexpr int kUnfinished = 100'000;
    std::string text = "[" + event("a", 0, 1) + ",";
    for (int i = 0; i < kUnfinished; ++i) text += "{\"ph\":1,";
    const trace::Trace trace = imported(text + event("b", 5, 1) + "," + event("c", 7, 1) + "]");
    EXPECT_EQ(linesOf(trace), (Lines{"a 0+1000", "b 5000+1000", "c 7000+1000"}));
    EXPECT_EQ(countOf(trace, "damaged_event"), kUnfinished);
}

// bad-inputs 2
TEST(ChromeImport, ControlCharactersInNamesAreKeptAndSaid) {
    const trace::Trace trace = imported("[" + event("|||S(1): \x01<module>", 0, 1) + "," +
                                        event("two\nlines\t.", 5, 1) + "]");
    EXPECT_EQ(linesOf(trace), (Lines{"|||S(1): \x01<module> 0+1000", "two\nlines\t. 5000+1000"}));
    EXPECT_EQ(countOf(trace, "control_character"), 3);
}

// bad-inputs 3, 5
TEST(ChromeImport, BytesThatAreNoUtf8BecomeReplacementCharacters) {
    const trace::Trace trace =
        imported("[" + event("f\xb9 \xff\xf0", 0, 1) + "," + event("f\xb9 \xff\xf0", 5, 1) + "," +
                 event("cut \xe4\xb8", 7, 1) + "," +
                 event("ok", 9, 1, ",\"args\":{\"fname\":\"\xff\"}") + "]");
    EXPECT_EQ(trace.name(trace::EventId(0)), "f\uFFFD \uFFFD\uFFFD");
    EXPECT_EQ(trace.event(trace::EventId(0)).name, trace.event(trace::EventId(1)).name);
    EXPECT_EQ(trace.name(trace::EventId(2)), "cut \uFFFD\uFFFD");
    EXPECT_EQ(trace.arguments(trace::EventId(3)), "{\"fname\":\"\uFFFD\"}");
    EXPECT_EQ(countOf(trace, "invalid_utf8"), 9);
    EXPECT_EQ(countOf(trace, "damaged_event"), 0);
}

// bad-inputs 6
TEST(ChromeImport, AFileCutAnywhereKeepsItsWholeEvents) {
    const std::string whole = "{\"traceEvents\":[" + event("a", 0, 1) + ",\n" + event("b", 5, 1) +
                              ",\n" + event("c", 7, 1) + "]}";
    const std::size_t firstEnd = whole.find('}') + 1;
    for (std::size_t size = firstEnd; size + 2 < whole.size(); ++size) {
        const trace::Trace trace = imported(whole.substr(0, size));
        const auto ends = std::count(whole.begin(), whole.begin() + static_cast<long>(size), '}');
        EXPECT_EQ(trace.eventCount(), static_cast<std::size_t>(ends)) << size;
        EXPECT_GE(countOf(trace, "truncated"), 1) << size;
    }
}

std::string gzip(const std::string& text) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string packed(text.size() + 1'000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(packed.size() - stream.avail_out);
    deflateEnd(&stream);
    return packed;
}

TEST(ChromeImport, PackedFilesAreReadAndCutOnesSaySo) {
    std::string text = "[";
    for (int i = 0; i < 5'000; ++i) text += event(fmt::format("n{}", i), i, 1) + ",";
    text.back() = ']';
    EXPECT_EQ(imported(gzip(text)).eventCount(), 5'000U);
    EXPECT_EQ(imported(gzip(text) + gzip("")).eventCount(), 5'000U);
    std::string zstd(ZSTD_compressBound(text.size()), '\0');
    zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
    EXPECT_EQ(imported(zstd).eventCount(), 5'000U);
    const std::string packed = gzip(text);
    const trace::Trace cut = imported(packed.substr(0, packed.size() / 2));
    EXPECT_GT(cut.eventCount(), 1'000U);
    EXPECT_EQ(countOf(cut, "damaged_file"), 1);
    EXPECT_GE(countOf(cut, "truncated"), 1);
    EXPECT_NE(messageOf(importText(packed.substr(0, 15))).find("gzip data is cut off"),
              std::string::npos);
}

// A source whose disk fails after so many bytes.
class FailingSource : public ByteSource {
  public:
    FailingSource(std::string bytes, std::size_t good) : m_bytes(std::move(bytes)), m_good(good) {}
    std::size_t read(std::span<char> buffer) override {
        const std::size_t count = std::min(buffer.size(), m_good - m_at);
        std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(m_at), count, buffer.begin());
        m_at += count;
        if (count < buffer.size()) m_damage = "reading failed: Input/output error";
        return count;
    }

  private:
    std::string m_bytes;
    std::size_t m_good, m_at = 0;
};

TEST(ByteSource, ADiskThatFailsIsNotAFileThatIsCutOff) {
    const std::string text(100'000, 'x');
    std::string zstd(ZSTD_compressBound(text.size()), '\0');
    zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
    for (const std::string& packed : {gzip(text), zstd}) {
        const auto source = ByteSource::unpacked(
            std::make_unique<FailingSource>(packed, packed.size() / 2), packed);
        std::string read(text.size(), '\0');
        EXPECT_LT(source->read(read), text.size());
        EXPECT_EQ(source->damage(), "reading failed: Input/output error");
    }
}

// bad-inputs 9
TEST(ChromeImport, NumbersInQuotesAreNumbersAndWordsAreNot) {
    const trace::Trace trace = imported(
        R"([{"ph":"X","name":"a","pid":"1","tid":"1","ts":"300","dur":"50.5"},
            {"ph":"X","name":"b","pid":1,"tid":1,"ts":"100a","dur":1},
            {"ph":"X","name":"c","pid":1,"tid":1,"ts":1,"dur":"invalid"}])");
    EXPECT_EQ(linesOf(trace), Lines{"a 0+50500"});
    EXPECT_EQ(countOf(trace, "unreadable_time"), 2);
}

// 17 significant digits do not fit a double.
// bad-inputs 18
TEST(ChromeImport, NanosecondsSurviveInLongTimes) {
    EXPECT_EQ(
        linesFrom(R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":1712195495505583.123,"dur":0.001},
                            {"ph":"X","name":"b","pid":1,"tid":1,"ts":1712195495505583.124,"dur":0.002}])"),
        (Lines{"a 0+1", "b 1+2"}));
    EXPECT_EQ(linesFrom(R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":5.001,"dur":1},
                            {"ph":"X","name":"b","pid":1,"tid":1,"ts":5.003,"dur":1}],
                            "baseTimeNanoseconds":1712195495505583123})"),
              (Lines{"a 0+1000", "b 2+1000"}));
}

std::string kernel(const std::string& name, double start, double duration, int correlation,
                   int stream = 7) {
    return fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"device":0,"stream":{},"correlation": {}}}}})",
        name, stream, start, duration, stream, correlation);
}

std::string call(const std::string& name, double start, int correlation) {
    return fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":9,"tid":9,"ts":{},"dur":1,"args":{{"External id":5,"correlation":{}}}}})",
        name, start, correlation);
}

// bad-inputs 11
TEST(ChromeImport, UntimedDeviceWorkIsLeftOutAndCounted) {
    const trace::Trace trace =
        imported("[" + call("cudaLaunchKernel", 100, 1) + "," + kernel("k", 0, 0, 1) + "," +
                 kernel("m", 110, 5, 2) + "," + kernel("n", 120, -3, 3) + "]");
    EXPECT_EQ(linesOf(trace), (Lines{"cudaLaunchKernel 0+1000", "m 10000+5000"}));
    EXPECT_EQ(countOf(trace, "untimed_device_work"), 2);
}

// bad-inputs 13
TEST(ChromeImport, OverlappingEventsOfOneThreadAreBothKept) {
    EXPECT_EQ(linesFrom("[" + kernel("a", 3, 3.776, 0) + "," + kernel("b", 5, 2, 0) + "]"),
              (Lines{"a 0+3776", "b 2000+2000"}));
}

// bad-inputs 26
TEST(ChromeImport, OneGraphLaunchStartsManyKernels) {
    std::string text = "[" + call("cudaGraphLaunch", 0, 42);
    for (int i = 0; i < 31; ++i) text += "," + kernel("k" + std::to_string(i), 10 + i, 1, 42);
    const trace::Trace trace = imported(text + "]");
    EXPECT_EQ(trace.dependencies().size(), 31U);
    for (const trace::Dependency& dependency : trace.dependencies())
        EXPECT_EQ(trace.name(dependency.from), "cudaGraphLaunch");
    EXPECT_EQ(countOf(trace, "work_without_launch"), 0);
}

// bad-inputs 58
TEST(ChromeImport, LaunchesAndWorkWithoutTheOtherAreCounted) {
    const trace::Trace trace =
        imported("[" + call("cudaLaunchKernel", 0, 1) + "," + call("cudaLaunchKernel", 2, 2) + "," +
                 call("cudaDeviceSynchronize", 4, 3) + "," + kernel("k", 5, 1, 2) + "," +
                 kernel("early", 1, 1, 9) + "]");
    EXPECT_EQ(trace.dependencies().size(), 1U);
    EXPECT_EQ(countOf(trace, "launch_without_work"), 1);
    EXPECT_EQ(countOf(trace, "work_without_launch"), 1);
}

// bad-inputs 31
TEST(ChromeImport, ARecordThatStandsTwiceIsKeptOnce) {
    const trace::Trace trace =
        imported("[" + kernel("k", 5, 1, 2) + "," + call("cudaLaunchKernel", 0, 2) + "," +
                 kernel("k", 5, 1, 2) + "," + kernel("k", 8, 1, 2) + "]");
    EXPECT_EQ(linesOf(trace), (Lines{"k 5000+1000", "k 8000+1000", "cudaLaunchKernel 0+1000"}));
    EXPECT_EQ(countOf(trace, "duplicate_device_work"), 1);
    EXPECT_EQ(trace.dependencies().size(), 2U);
}

TEST(ChromeImport, AProfiledProcessIsOneRankWithHostAndDeviceLanes) {
    const trace::Trace trace = imported(
        "{\"traceEvents\":[" + call("cudaLaunchKernel", 0, 1) + "," + kernel("k", 2, 1, 1) +
        R"(,{"ph":"M","name":"process_name","pid":9,"args":{"name":"python3"}},
                     {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}}],
                     "distributedInfo":{"rank":5,"world_size":8},"host_name":"node-a"})");
    ASSERT_EQ(trace.ranks().size(), 1U);
    const trace::Rank& rank = trace.ranks()[trace::RankId(0)];
    EXPECT_EQ(rank.number, 5);
    EXPECT_EQ(rank.pid, 9);
    EXPECT_EQ(rank.program, "python3");
    EXPECT_EQ(rank.device, "cuda:0");
    EXPECT_EQ(rank.host, "node-a");
    ASSERT_EQ(trace.lanes().size(), 2U);
    EXPECT_EQ(trace.lanes()[trace::LaneId(1)].kind, trace::LaneKind::DeviceStream);
    EXPECT_EQ(trace.lanes()[trace::LaneId(1)].name, "stream 7");
}

TEST(ChromeImport, ThreadsNamedByPipelineRankAreRanks) {
    const auto named = [](int pid, int tid, const char* name) {
        return fmt::format(
            R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", pid,
            tid, name);
    };
    const auto on = [](int pid, int tid) {
        return fmt::format(
            R"({{"ph":"X","cat":"gc","name":"gc","pid":{},"tid":{},"ts":848671.6747283936,"dur":1}})",
            pid, tid);
    };
    const trace::Trace trace = imported("[" + on(0, 0) + "," + on(0, 1) + "," + on(1, 5) + "," +
                                        named(0, 0, "PP rank 0, TP rank 0, compute") + "," +
                                        named(0, 1, "PP rank 1, TP rank 0, compute") + "," +
                                        named(1, 5, "PP rank 0, TP rank 0, pp-comm") + "]");
    ASSERT_EQ(trace.ranks().size(), 3U);
    EXPECT_EQ(trace.ranks()[trace::RankId(1)].coordinates, (trace::Coordinates{1, 0, 0, -1, -1}));
    EXPECT_EQ(trace.ranks()[trace::RankId(2)].coordinates, (trace::Coordinates{0, 1, 0, -1, -1}));
    EXPECT_EQ(trace.lanes()[trace::LaneId(2)].name, "pp-comm");
}

// It may count from the moment its first step began, a little before its first timer.
TEST(ChromeImport, ATimelineOfPipelineTimersKeepsItsZero) {
    const auto begins = [](const char* thread, const char* start) {
        const trace::Trace trace = imported(fmt::format(
            R"([{{"ph":"X","name":"gc","pid":0,"tid":0,"ts":{},"dur":1}},)"
            R"({{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{{"name":"{}"}}}}])",
            start, thread));
        return trace.span().begin.ns;
    };
    EXPECT_EQ(begins("PP rank 0, TP rank 0, compute", "44.5"), 44'500);
    EXPECT_EQ(begins("PP rank 0, TP rank 0, compute", "1700000000000000"), 0);
    EXPECT_EQ(begins("PP rank 0, TP rank 0, compute", "-44.5"), 0);
    EXPECT_EQ(begins("worker", "44.5"), 0);
}

TEST(ChromeImport, WhatIsNoTraceIsRefusedInOneLine) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "empty"},
        {"hello", "is not a trace file"},
        {"{}", "without \"traceEvents\""},
        {"{\"a\":1,\"b\":[{}]}", "without \"traceEvents\""},
        {"[[-1,1,37888,7]]", "not of objects"},
        {"[1,2,3]", "not of objects"},
        {"[]", "empty list of events"},
        {"[{\"a\":1}]", "none of the objects (1) in its list"},
        {"{\"traceEvents\":[", "empty list of events"},
        {R"([{"ph":"X","name":"a","rel_ts":5,"dur":1}])", "rel_ts"},
    };
    for (const auto& [text, reason] : cases) {
        const std::string message = messageOf(importText(text));
        EXPECT_NE(message.find(reason), std::string::npos) << text << " -> " << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        EXPECT_NE(message.find("trace.json"), std::string::npos);
    }
}

// Pieces are cut where an event seems to begin; nested objects that look like events must not
// change anything.
// bad-inputs 4
TEST(ChromeImport, ALargeFileOfTrapsIsReadLikeASmallOne) {
    std::string text = "{\"traceEvents\":[";
    constexpr int kEvents = 40'000;
    for (int i = 0; i < kEvents; ++i) {
        text += fmt::format(
            R"({{"ph":"X","name":"n{}","pid":1,"tid":1,"ts":{},"dur":1,"args":{{"list":[{{"x":1}},{{"name":"a"}}, {{"name":"{}"}}]}}}},)",
            i % 10, i, std::string(static_cast<std::size_t>(i % 97), 'x'));
    }
    text.back() = ']';
    const trace::Trace trace = imported(text + ", \"distributedInfo\": {\"rank\": 2}}");
    EXPECT_EQ(trace.eventCount(), static_cast<std::size_t>(kEvents));
    EXPECT_EQ(trace.ranks()[trace::RankId(0)].number, 2);
    EXPECT_TRUE(trace.diagnostics().empty());
}

// Wherever a piece ends: also between two things of one event that look like events themselves.
TEST(ChromeImport, PiecesMayEndBetweenTrapsOfOneEvent) {
    for (std::size_t lead = 0; lead < 120; lead += 8) {
        std::string text = "[" + std::string(lead, ' ');
        constexpr int kEvents = 6'000;
        for (int i = 0; i < kEvents; ++i) {
            text += fmt::format(
                R"({{"ph":"X","name":"n","pid":1,"tid":1,"ts":{},"dur":1,"args":[{{"x":1}},{{"name":"a"}},{{"name":"b"}}]}},)",
                100'000 + i);
        }
        text.back() = ']';
        const trace::Trace trace = imported(text);
        EXPECT_EQ(trace.eventCount(), static_cast<std::size_t>(kEvents)) << lead;
        EXPECT_EQ(countOf(trace, "damaged_event"), 0) << lead;
    }
}

TEST(ChromeImport, OneEventLargerThanAPieceIsRead) {
    const std::string large(3'000'000, 'x');
    const trace::Trace trace =
        imported("[" + event("a", 0, 1) + "," + event(large, 2, 1) + "," + event("c", 4, 1) + "]");
    ASSERT_EQ(trace.eventCount(), 3U);
    EXPECT_EQ(trace.name(trace::EventId(1)).size(), large.size());
}

TEST(ChromeImport, ListsWithinArgumentsAreNotTheListOfEvents) {
    // Many pieces long, and made of what looks like events.
    std::string inner;
    for (int i = 0; i < 20'000; ++i)
        inner += fmt::format("{}{{\"name\":\"f{}\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":9}}",
                             i == 0 ? "" : ",", i);
    std::string text = "[" + event("a", 0, 1);
    for (int i = 0; i < 5'000; ++i) text += "," + event("b", 1, 1);
    text += "," + event("big", 2, 1, ",\"args\":{\"list\":[" + inner + "]}");
    for (int i = 0; i < 5'000; ++i) text += "," + event("c", 3, 1);
    const trace::Trace whole = imported(text + "]");
    EXPECT_EQ(whole.eventCount(), 10'002U);
    EXPECT_EQ(countOf(whole, "damaged_event"), 0);
    EXPECT_EQ(countOf(whole, "arguments_dropped"), 1);
    // The end of a list within a damaged event's arguments is not the end of the file's.
    const std::string damaged =
        R"({"ph":"X","name":"d","args":{"bad":"un"terminated","frames":[{"name":"f","ts":1}]}})";
    const trace::Trace rest =
        imported("[" + event("a", 0, 1) + "," + damaged + ",\n" + event("b", 5, 1) + "]");
    EXPECT_EQ(linesOf(rest), (Lines{"a 0+1000", "b 5000+1000"}));
}

// Each end would be searched for among all that are open: minutes.
TEST(ChromeImport, ManyOpenRangesOfOtherNamesAreNotSearched) {
    constexpr int kOpen = 100'000;
    std::string text = "[";
    for (int i = 0; i < kOpen; ++i)
        text += fmt::format(R"({{"ph":"B","name":"a","pid":1,"tid":1,"ts":{}}},)", i);
    for (int i = 0; i < kOpen; ++i)
        text += fmt::format(R"({{"ph":"B","name":"b","pid":1,"tid":1,"ts":{}}},)", kOpen + i);
    for (int i = 0; i < kOpen; ++i)
        text += fmt::format(R"({{"ph":"E","name":"{}","pid":1,"tid":1,"ts":{}}},)",
                            i % 2 == 0 ? "a" : "c", 2 * kOpen + i);
    text.back() = ']';
    const trace::Trace trace = imported(text);
    EXPECT_EQ(trace.eventCount(), 2U * kOpen);
    EXPECT_EQ(countOf(trace, "end_of_other_name"), kOpen / 2) << "c ends the innermost b";
    EXPECT_EQ(countOf(trace, "crossing_ranges"), kOpen / 2);
    EXPECT_EQ(countOf(trace, "open_range"), kOpen);
}

TEST(ChromeImport, ManyDamagedEventsInALargeFileCostOnlyThemselves) {
    std::string text = "[";
    constexpr int kEvents = 60'000;
    for (int i = 0; i < kEvents; ++i) {
        text += i % 1'000 == 500 ? R"({"ph":"X","name":"od"d","pid":1,"tid":1,"ts":1,"dur":1})"
                                 : event("good", i, 1);
        text += ",\n";
    }
    const trace::Trace trace = imported(text + event("last", kEvents, 1) + "]");
    EXPECT_EQ(trace.eventCount(), static_cast<std::size_t>(kEvents - kEvents / 1'000 + 1));
    EXPECT_EQ(countOf(trace, "damaged_event"), kEvents / 1'000);
}

}  // namespace
}  // namespace pleat::importers
