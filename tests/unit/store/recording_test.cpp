// A recording: rows seen while it goes on, after it ended, and after it was killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "unit/store/sqlite_client.h"

namespace pleat::store {
namespace {

using test::TemporaryFolder;

trace::LaneId addLane(Writer& writer) {
    const auto rank = writer.addRank({0, {}, "node", 1, "program", "cpu", {}});
    EXPECT_TRUE(rank);
    const auto lane = writer.addLane({*rank, trace::LaneKind::HostThread, 1, ""});
    EXPECT_TRUE(lane);
    return *lane;
}

// Events "0", "1", … "count - 1", one nanosecond each.
void addEvents(Writer& writer, trace::LaneId lane, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
    std::vector<EventRow> rows;
    for (int i = 0; i < count; ++i)
        rows.push_back({lane, names[static_cast<std::size_t>(i)], "pleat", {}, {}, i, i + 1, {}});
    const auto added = writer.addEvents(rows);
    EXPECT_TRUE(added) << added.error().message;
}

std::string meta(const std::filesystem::path& file, const std::string& key) {
    std::string value;
    const auto done =
        runSql(file, "select value from meta where key = '" + key + "'",
               {[](const auto&) {}, [&](const SqlRow& row) { value = row[0].value_or("null"); }});
    EXPECT_TRUE(done) << done.error().message;
    return value;
}

TEST(Recording, AnExistingFileIsNotOverwritten) {
    const TemporaryFolder folder;
    test::writeBytes(folder.file("a.pleat"), "precious");
    const auto writer = Writer::create(folder.file("a.pleat"));
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, base::ErrorCode::Io);
    EXPECT_NE(writer.error().message.find("already exists"), std::string::npos);
    EXPECT_EQ(test::readBytes(folder.file("a.pleat")), "precious");
}

TEST(Recording, AFolderThatIsNotThereIsAnIoError) {
    const TemporaryFolder folder;
    const auto writer = Writer::create(folder.file("absent/a.pleat"));
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, base::ErrorCode::Io);
    EXPECT_NE(writer.error().message.find("No such file or directory"), std::string::npos);
}

TEST(Recording, WhoeverFindsTheFileFindsItsTables) {
    const TemporaryFolder folder;
    const auto fileOf = [&](int number) {
        return folder.file("run" + std::to_string(number) + ".pleat");
    };
    constexpr int kRuns = 50;
    std::atomic<bool> found{false};
    std::thread reader([&] {
        for (int run = 0; run < kRuns; ++run, found = true) {
            while (!std::filesystem::exists(fileOf(run))) std::this_thread::yield();
            const auto asked = runSql(fileOf(run), "select count(*) from named_event",
                                      {[](const auto&) {}, [](const auto&) {}});
            EXPECT_TRUE(asked) << asked.error().message;
        }
    });
    for (int run = 0; run < kRuns; ++run, found = false) {
        const auto writer = Writer::create(fileOf(run));
        EXPECT_TRUE(writer) << writer.error().message;
        while (!found) std::this_thread::yield();
    }
    reader.join();
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(".")))
        EXPECT_EQ(entry.path().extension(), ".pleat") << entry.path();
}

TEST(Recording, AFileMayHaveTheLongestName) {
    const TemporaryFolder folder;
    EXPECT_TRUE(Writer::create(folder.file(std::string(244, 'n') + ".pleat")));
}

TEST(Recording, AReaderSeesCommittedRowsOnly) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    auto writer = Writer::create(file);
    ASSERT_TRUE(writer) << writer.error().message;
    EXPECT_TRUE(isPleatFile(file));
    const trace::LaneId lane = addLane(*writer);
    addEvents(*writer, lane, 40);
    ASSERT_TRUE(writer->commit());
    addEvents(*writer, lane, 70);
    const auto during = load(file);
    ASSERT_TRUE(during) << during.error().message;
    EXPECT_EQ(during->trace.eventCount(), 40U);
    EXPECT_FALSE(during->finished);
    EXPECT_FALSE(during->annotated);
    ASSERT_TRUE(writer->commit());
    EXPECT_EQ(load(file)->trace.eventCount(), 110U);
    ASSERT_TRUE(std::move(*writer).finish());
    EXPECT_TRUE(load(file)->finished);
}

TEST(Recording, EveryRemainderOfABatchIsWrittenInOrder) {
    for (const int count : {1, 31, 32, 33, 64, 95}) {
        const TemporaryFolder folder;
        auto writer = Writer::create(folder.file("a.pleat"));
        ASSERT_TRUE(writer) << writer.error().message;
        addEvents(*writer, addLane(*writer), count);
        ASSERT_TRUE(std::move(*writer).finish());
        const auto loaded = load(folder.file("a.pleat"));
        ASSERT_TRUE(loaded) << loaded.error().message;
        ASSERT_EQ(loaded->trace.eventCount(), static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            const auto id = trace::EventId::at(static_cast<std::size_t>(i));
            EXPECT_EQ(loaded->trace.name(id), std::to_string(i));
            EXPECT_EQ(loaded->trace.event(id).span, (base::Interval{{i}, {i + 1}}));
        }
    }
}

TEST(Recording, RanksAndLanesChangeAsMoreIsKnown) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    auto writer = Writer::create(file);
    ASSERT_TRUE(writer) << writer.error().message;
    const trace::LaneId lane = addLane(*writer);
    ASSERT_TRUE(writer->commit());
    ASSERT_TRUE(writer->renameLane(lane, "compute"));
    ASSERT_TRUE(writer->updateRank(
        trace::RankId(0),
        {3, {1, 0, -1, -1, -1}, "node", 1, "program", "cuda:2", trace::ProcessEnd::Killed}));
    ASSERT_TRUE(std::move(*writer).finish());
    const auto loaded = load(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->trace.lanes()[lane].name, "compute");
    const trace::Rank& rank = loaded->trace.ranks()[trace::RankId(0)];
    EXPECT_EQ(rank.number, 3);
    EXPECT_EQ(rank.coordinates, (trace::Coordinates{1, 0, -1, -1, -1}));
    EXPECT_EQ(rank.device, "cuda:2");
    EXPECT_EQ(rank.end, trace::ProcessEnd::Killed);
}

TEST(Recording, MetaDiagnosticsAndClockSamplesAreStored) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    auto writer = Writer::create(file);
    ASSERT_TRUE(writer) << writer.error().message;
    addLane(*writer);
    ASSERT_TRUE(writer->setMeta("host", "node-a"));
    ASSERT_TRUE(writer->setMeta("host", "node-b"));
    base::Diagnostics diagnostics;
    diagnostics.add("dropped_event", "first", 2);
    ASSERT_TRUE(writer->addDiagnostics(diagnostics));
    ASSERT_TRUE(writer->commit());
    ASSERT_TRUE(writer->addDiagnostics(diagnostics));
    ASSERT_TRUE(writer->addClockSample({{}, 1, 20, 300}));
    ASSERT_TRUE(writer->addClockSample({trace::RankId(0), 2, 21, 301}));
    EXPECT_EQ(meta(file, "state"), "recording");
    ASSERT_TRUE(std::move(*writer).finish());
    EXPECT_EQ(meta(file, "state"), "complete");
    EXPECT_EQ(meta(file, "host"), "node-b");
    EXPECT_NE(meta(file, "pleat_version"), "");
    const auto loaded = load(file);
    ASSERT_NE(loaded->trace.diagnostics().find("dropped_event"), nullptr);
    EXPECT_EQ(loaded->trace.diagnostics().find("dropped_event")->count, 4);
    std::string samples;
    ASSERT_TRUE(runSql(file, "select rank, trace_ns, monotonic_ns, unix_ns from clock_sample",
                       {[](const auto&) {},
                        [&](const SqlRow& row) {
                            for (const auto& cell : row) samples += cell.value_or("null") + " ";
                        }}));
    EXPECT_EQ(samples, "null 1 20 300 1 2 21 301 ");
}

TEST(Recording, EmptyTextsAreTexts) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    auto writer = Writer::create(file);
    ASSERT_TRUE(writer) << writer.error().message;
    const trace::LaneId lane = addLane(*writer);
    ASSERT_TRUE(writer->renameLane(lane, {}));
    ASSERT_TRUE(writer->setMeta("command", {}));
    const EventRow nameless{lane, {}, {}, {}, {}, 0, 1, {}};
    ASSERT_TRUE(writer->addEvents({&nameless, 1}));
    ASSERT_TRUE(std::move(*writer).finish());
    EXPECT_EQ(load(file)->trace.eventCount(), 1U);
}

TEST(Recording, AWriterThatGoesAwayLeavesItsCommittedRows) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    {
        auto writer = Writer::create(file);
        ASSERT_TRUE(writer) << writer.error().message;
        const trace::LaneId lane = addLane(*writer);
        addEvents(*writer, lane, 33);
        ASSERT_TRUE(writer->commit());
        addEvents(*writer, lane, 5);
    }
    const auto loaded = load(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->trace.eventCount(), 33U);
    EXPECT_FALSE(loaded->finished);
}

// In a child: writes 33 events, commits, and is killed while 70 more lie in an open transaction.
[[noreturn]] void recordAndDie(const std::filesystem::path& file) {
    auto writer = Writer::create(file);
    if (!writer) _exit(1);
    const trace::LaneId lane = addLane(*writer);
    addEvents(*writer, lane, 33);
    if (!writer->commit()) _exit(2);
    addEvents(*writer, lane, 70);
    kill(getpid(), SIGKILL);
    _exit(3);
}

TEST(Recording, AKilledRecorderLeavesItsCommittedRows) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    const pid_t child = fork();
    if (child == 0) recordAndDie(file);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit status " << status;
    const auto loaded = load(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->trace.eventCount(), 33U);
    EXPECT_FALSE(loaded->finished);
    EXPECT_EQ(meta(file, "state"), "recording");
    // Its rows can be annotated like any other's.
    ASSERT_TRUE(writeAnnotations(loaded->trace, file));
    EXPECT_TRUE(load(file)->annotated);
}

TEST(Recording, AFileCopiedWithoutItsLogStillSaysWhatItIs) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    const pid_t child = fork();
    if (child == 0) recordAndDie(file);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const auto copy = folder.file("copy.pleat");
    std::filesystem::copy_file(file, copy);
    EXPECT_TRUE(isPleatFile(copy));
    const auto loaded = load(copy);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_FALSE(loaded->finished);
    EXPECT_EQ(loaded->trace.eventCount(), 0U) << "all rows were in the log";
}

TEST(Recording, SomebodyReadingDoesNotKeepARecordingFromFinishing) {
    const TemporaryFolder folder;
    const auto file = folder.file("a.pleat");
    auto writer = Writer::create(file);
    ASSERT_TRUE(writer) << writer.error().message;
    addEvents(*writer, addLane(*writer), 40);
    ASSERT_TRUE(writer->commit());
    sqlite3* reader = nullptr;
    ASSERT_EQ(sqlite3_open_v2(file.c_str(), &reader, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(reader, "begin; select count(*) from event", nullptr, nullptr, nullptr),
              SQLITE_OK);
    const auto finished = std::move(*writer).finish();
    EXPECT_TRUE(finished) << finished.error().message;
    const auto loaded = load(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->finished);
    EXPECT_EQ(loaded->trace.eventCount(), 40U);
    sqlite3_close(reader);
}

}  // namespace
}  // namespace pleat::store
