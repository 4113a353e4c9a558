// Fields that are null, of another type or out of range cost that field only: the same run is read
// as with numbers.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "annotate/annotate.h"
#include "trace/arguments.h"
#include "unit/analyzer/importers/imported.h"
#include "unit/analyzer/timer_timeline.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using importers::sharedTraces;

TEST(Arguments, AWholeNumberIsReadHoweverItIsWritten) {
    trace::Arguments arguments;
    ASSERT_TRUE(arguments.read(R"({"a": 3, "b": "3", "c": 3.0, "d": -3, "e": "-3"})"));
    for (const char* name : {"a", "b", "c"}) EXPECT_EQ(arguments.integer(name), 3) << name;
    for (const char* name : {"d", "e"}) EXPECT_EQ(arguments.integer(name), -3) << name;
}

TEST(Arguments, WhatIsNoNumberCostsThatFieldOnly) {
    trace::Arguments arguments;
    ASSERT_TRUE(arguments.read(
        R"({"a": null, "b": true, "c": 3.5, "d": "3x", "e": "", "f": 1e300, "g": [1], "h": {"x": 1},
            "i": 18446744073709551615, "j": 99999999999, "last": 7})"));
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
        EXPECT_FALSE(arguments.integer(name)) << name;
        EXPECT_TRUE(arguments.has(name)) << name;
    }
    EXPECT_FALSE(arguments.integer32("j"));
    EXPECT_FALSE(arguments.has("x"));
    EXPECT_EQ(arguments.integer("last"), 7);
}

// What a begin says as null and its end as a number is the number.
TEST(Arguments, OfAFieldThatStandsTwiceTheNumberCounts) {
    trace::Arguments arguments;
    ASSERT_TRUE(arguments.read(R"({"a": null, "a": 4})"));
    EXPECT_EQ(arguments.integer("a"), 4);
}

std::vector<std::string> tasksOf(const trace::Trace& trace) {
    std::vector<std::string> lines;
    for (const trace::Task& task : trace.annotations().tasks) {
        lines.push_back(fmt::format("rank {} step {} {}{} chunk {} mb {} at {}", task.rank.index(),
                                    task.iteration, task.stage, toString(task.kind), task.chunk,
                                    task.microbatch, task.span.begin.ns));
    }
    return lines;
}

trace::Trace annotated(const std::string& text) {
    const auto imported = importers::importText(text);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

TEST(LostFields, ARunWithoutMicrobatchNumbersIsTheRunWithThem) {
    SKIP_WITHOUT_SHARED_TRACES();
    std::ifstream file(importers::sharedTraces() / "faults" / "ndtimeline_mb_id_null.json");
    std::stringstream text;
    text << file.rdbuf();
    const std::regex lost(R"re("model_chunk": null, "mb_id": null, "seq_id": (\d+))re");
    const std::string numbers =
        std::regex_replace(text.str(), lost, R"("model_chunk": 0, "mb_id": $1, "seq_id": $1)");
    const trace::Trace without = annotated(text.str()), with = annotated(numbers);
    EXPECT_EQ(tasksOf(without), tasksOf(with));
    EXPECT_EQ(without.annotations().tasks.size(), 128U);
    EXPECT_EQ(countOf(with, "field_unreadable"), 0);
    EXPECT_GT(countOf(without, "field_unreadable"), 0);
    for (const trace::Trace* trace : {&without, &with}) {
        const trace::RecognisedSchedule& found = trace->annotations().schedule.value();
        EXPECT_EQ(found.name, "1f1b");
        EXPECT_EQ(found.ranks, 4);
        EXPECT_EQ(found.chunks, 1);
        EXPECT_EQ(found.microbatches, 4);
        EXPECT_EQ(countOf(*trace, "unmatched_transfer"), 0);
        for (const trace::Rank& rank : trace->ranks()) EXPECT_LE(rank.coordinates.dp, 1);
        for (const trace::Task& task : trace->annotations().tasks)
            EXPECT_TRUE(task.iteration == 23 || task.iteration == 25);
    }
}

// Any one field of a two-stage step, in any of the ways that a number is lost.
TEST(LostFields, OneLostFieldChangesNothing) {
    const std::string text = testing::twoStageStep().text();
    const std::vector<std::string> expected = tasksOf(annotated(text));
    ASSERT_EQ(expected.size(), 8U);
    for (const std::string field : {"step", "mb_id", "model_chunk"}) {
        for (const char* value : {"null", "true", "1e300", "\"x\"", "0.5", "[]", "{\"a\": 1}",
                                  "NaN", "-1", "99999999999", "2147483647.5"}) {
            for (std::size_t event = 0; event < 22; event += 3) {
                SCOPED_TRACE(field + " of event " + std::to_string(event) + " = " + value);
                std::size_t at = 0;
                for (std::size_t i = 0; i <= event; ++i)
                    at = text.find("\"" + field + "\":", at) + field.size() + 3;
                std::string changed = text;
                changed.replace(at, text.find_first_of(",}", at) - at, value);
                EXPECT_EQ(tasksOf(annotated(changed)), expected);
            }
        }
    }
}

// "seq_id" orders messages; without one their begins do.
TEST(LostFields, AMessageWithoutSequenceNumberIsOrderedByItsBegin) {
    const std::string text = testing::twoStageStep().text();
    std::string changed = text;
    for (std::size_t at = 0; (at = changed.find("\"seq_id\":1", at)) != std::string::npos; ++at)
        changed.replace(at, 10, "\"seq_id\":null");
    const trace::Trace with = annotated(text), without = annotated(changed);
    ASSERT_EQ(with.annotations().transfers.size(), without.annotations().transfers.size());
    for (std::size_t i = 0; i < with.annotations().transfers.size(); ++i) {
        const auto id = trace::TransferId::at(i);
        EXPECT_EQ(with.annotations().transfers[id].microbatch,
                  without.annotations().transfers[id].microbatch);
    }
}

// With two chunks a rank runs microbatch 0 twice; the lost chunk is the one that is left.
TEST(LostFields, ALostChunkIsTheOneThatIsLeft) {
    testing::TimerTimelineText timeline;
    for (int chunk = 0; chunk < 2; ++chunk) {
        timeline.chunk(chunk);
        timeline.add(0, "forward-compute", 0, 100 * chunk, 10);
        timeline.add(1, "forward-compute", 0, 100 * chunk + 20, 10);
    }
    const std::string text = timeline.text();
    std::string changed = text;
    const std::size_t last = changed.rfind("\"model_chunk\":1");
    changed.replace(last, 15, "\"model_chunk\":null");
    EXPECT_EQ(tasksOf(annotated(changed)), tasksOf(annotated(text)));
    // Without its microbatch as well nothing tells which task it was.
    changed.replace(changed.find("\"mb_id\":0", last), 9, "\"mb_id\":null");
    const trace::Trace trace = annotated(changed);
    EXPECT_EQ(trace.annotations().tasks.size(), 3U);
    EXPECT_EQ(countOf(trace, "timer_incomplete"), 1);
}

}  // namespace
}  // namespace pleat::annotate
