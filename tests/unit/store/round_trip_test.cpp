// What is written is read back, field by field.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "trace/trace_builder.h"
#include "unit/store/example_trace.h"
#include "unit/store/sqlite_client.h"

namespace pleat::store {
namespace {

using test::exampleTrace;
using test::executeSql;
using test::TemporaryFolder;
using trace::Trace;

void expectSameRanksAndLanes(const Trace& a, const Trace& b) {
    ASSERT_EQ(a.ranks().size(), b.ranks().size());
    for (std::size_t i = 0; i < a.ranks().size(); ++i) {
        const trace::Rank& x = a.ranks()[a.ranks().idAt(i)];
        const trace::Rank& y = b.ranks()[b.ranks().idAt(i)];
        EXPECT_EQ(x.number, y.number);
        EXPECT_EQ(x.coordinates, y.coordinates);
        EXPECT_EQ(x.host, y.host);
        EXPECT_EQ(x.pid, y.pid);
        EXPECT_EQ(x.clockBound, y.clockBound);
        EXPECT_EQ(x.program, y.program);
        EXPECT_EQ(x.device, y.device);
        EXPECT_EQ(x.end, y.end);
    }
    ASSERT_EQ(a.lanes().size(), b.lanes().size());
    for (std::size_t i = 0; i < a.lanes().size(); ++i) {
        const trace::Lane& x = a.lanes()[a.lanes().idAt(i)];
        const trace::Lane& y = b.lanes()[b.lanes().idAt(i)];
        EXPECT_EQ(x.rank, y.rank);
        EXPECT_EQ(x.kind, y.kind);
        EXPECT_EQ(x.nativeId, y.nativeId);
        EXPECT_EQ(x.name, y.name);
    }
}

void expectSameEvents(const Trace& a, const Trace& b) {
    ASSERT_EQ(a.eventCount(), b.eventCount());
    for (std::size_t i = 0; i < a.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        EXPECT_EQ(a.event(id).lane, b.event(id).lane);
        EXPECT_EQ(a.name(id), b.name(id));
        EXPECT_EQ(a.domain(id), b.domain(id));
        EXPECT_EQ(a.event(id).kind, b.event(id).kind);
        EXPECT_EQ(a.event(id).flag, b.event(id).flag);
        EXPECT_EQ(a.event(id).span, b.event(id).span);
        EXPECT_EQ(a.arguments(id), b.arguments(id));
    }
    EXPECT_TRUE(std::ranges::equal(a.dependencies(), b.dependencies()));
}

void expectSameTasks(const trace::Annotations& a, const trace::Annotations& b) {
    ASSERT_EQ(a.tasks.size(), b.tasks.size());
    for (std::size_t i = 0; i < a.tasks.size(); ++i) {
        const trace::Task& x = a.tasks[a.tasks.idAt(i)];
        const trace::Task& y = b.tasks[b.tasks.idAt(i)];
        EXPECT_EQ(x.rank, y.rank);
        EXPECT_EQ(x.event, y.event);
        EXPECT_EQ(x.iteration, y.iteration);
        EXPECT_EQ(x.stage, y.stage);
        EXPECT_EQ(x.chunk, y.chunk);
        EXPECT_EQ(x.microbatch, y.microbatch);
        EXPECT_EQ(x.kind, y.kind);
        EXPECT_EQ(x.span, y.span);
    }
    ASSERT_EQ(a.phases.size(), b.phases.size());
    for (std::size_t i = 0; i < a.phases.size(); ++i) {
        EXPECT_EQ(a.phases[i].rank, b.phases[i].rank);
        EXPECT_EQ(a.phases[i].event, b.phases[i].event);
        EXPECT_EQ(a.phases[i].iteration, b.phases[i].iteration);
        EXPECT_EQ(a.phases[i].kind, b.phases[i].kind);
        EXPECT_EQ(a.phases[i].span, b.phases[i].span);
    }
    ASSERT_EQ(a.iterations.size(), b.iterations.size());
    for (std::size_t i = 0; i < a.iterations.size(); ++i) {
        EXPECT_EQ(a.iterations[i].rank, b.iterations[i].rank);
        EXPECT_EQ(a.iterations[i].event, b.iterations[i].event);
        EXPECT_EQ(a.iterations[i].iteration, b.iterations[i].iteration);
        EXPECT_EQ(a.iterations[i].span, b.iterations[i].span);
    }
}

void expectSameTransfers(const trace::Annotations& a, const trace::Annotations& b) {
    ASSERT_EQ(a.transfers.size(), b.transfers.size());
    for (std::size_t i = 0; i < a.transfers.size(); ++i) {
        const trace::Transfer& x = a.transfers[a.transfers.idAt(i)];
        const trace::Transfer& y = b.transfers[b.transfers.idAt(i)];
        EXPECT_EQ(x.rank, y.rank);
        EXPECT_EQ(x.event, y.event);
        EXPECT_EQ(x.iteration, y.iteration);
        EXPECT_EQ(x.stage, y.stage);
        EXPECT_EQ(x.chunk, y.chunk);
        EXPECT_EQ(x.microbatch, y.microbatch);
        EXPECT_EQ(x.operation, y.operation);
        EXPECT_EQ(x.dimension, y.dimension);
        EXPECT_EQ(x.bytes, y.bytes);
        EXPECT_EQ(x.group, y.group);
        EXPECT_EQ(x.peer, y.peer);
        EXPECT_EQ(x.sequence, y.sequence);
        EXPECT_EQ(x.span, y.span);
        EXPECT_EQ(x.match, y.match);
        EXPECT_EQ(x.action, y.action);
    }
}

void expectSameGroupsAndMatches(const trace::Annotations& a, const trace::Annotations& b) {
    ASSERT_EQ(a.groups.size(), b.groups.size());
    for (std::size_t i = 0; i < a.groups.size(); ++i) {
        const trace::ProcessGroup& x = a.groups[a.groups.idAt(i)];
        const trace::ProcessGroup& y = b.groups[b.groups.idAt(i)];
        EXPECT_EQ(x.nativeId, y.nativeId);
        EXPECT_EQ(x.dimension, y.dimension);
        EXPECT_EQ(x.size, y.size);
        EXPECT_EQ(x.members, y.members);
    }
    ASSERT_EQ(a.matches.size(), b.matches.size());
    for (std::size_t i = 0; i < a.matches.size(); ++i) {
        const trace::Match& x = a.matches[a.matches.idAt(i)];
        const trace::Match& y = b.matches[b.matches.idAt(i)];
        EXPECT_EQ(x.members, y.members);
        EXPECT_EQ(x.ready, y.ready);
        EXPECT_EQ(x.lastRank, y.lastRank);
        EXPECT_EQ(x.complete, y.complete);
    }
    ASSERT_EQ(a.schedule.has_value(), b.schedule.has_value());
    if (!a.schedule) return;
    EXPECT_EQ(a.schedule->name, b.schedule->name);
    EXPECT_EQ(a.schedule->ranks, b.schedule->ranks);
    EXPECT_EQ(a.schedule->chunks, b.schedule->chunks);
    EXPECT_EQ(a.schedule->microbatches, b.schedule->microbatches);
    EXPECT_EQ(a.schedule->group, b.schedule->group);
    EXPECT_EQ(a.schedule->confidence, b.schedule->confidence);
    EXPECT_EQ(a.schedule->also, b.schedule->also);
}

void expectSame(const Trace& a, const Trace& b) {
    expectSameRanksAndLanes(a, b);
    expectSameEvents(a, b);
    expectSameTasks(a.annotations(), b.annotations());
    expectSameTransfers(a.annotations(), b.annotations());
    expectSameGroupsAndMatches(a.annotations(), b.annotations());
    ASSERT_EQ(a.diagnostics().entries().size(), b.diagnostics().entries().size());
    for (const base::Diagnostic& diagnostic : a.diagnostics().entries()) {
        ASSERT_NE(b.diagnostics().find(diagnostic.code), nullptr) << diagnostic.code;
        EXPECT_EQ(*b.diagnostics().find(diagnostic.code), diagnostic);
    }
}

// The events of the example, as they would be before annotation.
Trace withoutAnnotations(const Trace& trace) {
    return {trace.sharedColumns(), trace.ranks(), trace.lanes(), {}};
}

TEST(RoundTrip, AWholeTraceIsReadBackFieldByField) {
    const TemporaryFolder folder;
    const Trace written = exampleTrace();
    ASSERT_TRUE(writeTrace(written, folder.file("a.pleat")));
    const auto loaded = load(folder.file("a.pleat"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->annotated);
    EXPECT_TRUE(loaded->finished);
    expectSame(written, loaded->trace);
}

TEST(RoundTrip, AFinishedTraceIsOnePlainFile) {
    const TemporaryFolder folder;
    ASSERT_TRUE(writeTrace(exampleTrace(), folder.file("a.pleat")));
    EXPECT_TRUE(isPleatFile(folder.file("a.pleat")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.pleat-wal")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.pleat-shm")));
    EXPECT_EQ(test::readBytes(folder.file("a.pleat"))[18], 1) << "not WAL";
}

TEST(RoundTrip, ATraceWithoutAnnotationsStaysWithout) {
    const TemporaryFolder folder;
    ASSERT_TRUE(writeTrace(withoutAnnotations(exampleTrace()), folder.file("a.pleat")));
    const auto loaded = load(folder.file("a.pleat"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_FALSE(loaded->annotated);
    expectSame(withoutAnnotations(exampleTrace()), loaded->trace);
}

TEST(RoundTrip, AnEmptyTraceIsReadBack) {
    const TemporaryFolder folder;
    ASSERT_TRUE(writeTrace(trace::TraceBuilder().build().trace, folder.file("a.pleat")));
    const auto loaded = load(folder.file("a.pleat"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->trace.eventCount(), 0U);
    EXPECT_EQ(loaded->trace.ranks().size(), 0U);
}

TEST(RoundTrip, AnnotationsReferToTheRowsOfTheFileAndReplaceWhatWasThere) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    ASSERT_TRUE(writeTrace(withoutAnnotations(exampleTrace()), file));
    // Rows with holes: every id of an event and a rank changes.
    executeSql(file,
               "update event set id = 1000 - 10 * id where id > 0;"
               "update dependency set from_event = 1000 - 10 * from_event, to_event = 1000 - 10 * "
               "to_event;"
               "update lane set rank = rank * 5; update rank set id = id * 5;"
               "update rank set number = null, dp = null, pp = null, tp = null, device = '';"
               "insert into diagnostic values ('stale', 'info', 1, 'gone after annotation')");
    const auto loaded = load(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_FALSE(loaded->annotated);
    EXPECT_EQ(loaded->trace.ranks()[trace::RankId(0)].number, -1);
    const Trace example = exampleTrace();
    const Trace annotated =
        Trace::annotated(loaded->trace.sharedColumns(), example.ranks(), loaded->trace.lanes(),
                         example.annotations(), example.diagnostics());
    for (int times = 0; times < 2; ++times) {
        const auto done = writeAnnotations(annotated, file);
        ASSERT_TRUE(done) << done.error().message;
    }
    const auto again = load(file);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->annotated);
    expectSame(example, again->trace);
}

TEST(RoundTrip, AnnotationsOfAnotherRunAreRefused) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    ASSERT_TRUE(writeTrace(trace::TraceBuilder().build().trace, file));
    const auto done = writeAnnotations(exampleTrace(), file);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("has 0 ranks, but the annotated trace has 3"),
              std::string::npos)
        << done.error().message;
    EXPECT_FALSE(load(file)->annotated);
}

TEST(RoundTrip, WhatLoadingCountsIsNotCountedTwice) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    ASSERT_TRUE(writeTrace(withoutAnnotations(exampleTrace()), file));
    executeSql(
        file,
        "delete from lane where kind = 'device_stream'");  // two events and two dependencies dangle
    for (int times = 0; times < 3; ++times) {
        const auto loaded = load(file);
        ASSERT_TRUE(loaded) << loaded.error().message;
        ASSERT_NE(loaded->trace.diagnostics().find("dangling_row"), nullptr);
        EXPECT_EQ(loaded->trace.diagnostics().find("dangling_row")->count, 4);
        ASSERT_TRUE(writeAnnotations(loaded->trace, file));
    }
}

TEST(RoundTrip, EveryKindOfTextSurvives) {
    const TemporaryFolder folder;
    trace::TraceBuilder builder;
    const auto rank = builder.addRank({});
    const auto lane = builder.addLane({rank, {}, 0, "faden \xc3\xa4 \xe2\x82\xac"});
    const std::string names[] = {"", "quote ' \" ;", "not UTF-8 \xff\xfe", std::string(5000, 'x')};
    for (const std::string& name : names) {
        builder.addEvent({lane, builder.intern(name), {}, {}, {}, {}});
    }
    const Trace written = std::move(builder).build().trace;
    ASSERT_TRUE(writeTrace(written, folder.file("a.pleat")));
    const auto loaded = load(folder.file("a.pleat"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    expectSame(written, loaded->trace);
}

}  // namespace
}  // namespace pleat::store
