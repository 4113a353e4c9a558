// Files that are no usable trace get one line that names the file and says what is wrong; rows that
// refer to nothing are left out and counted.
#include <gtest/gtest.h>

#include <string>

#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "unit/store/example_trace.h"
#include "unit/store/sqlite_client.h"

namespace pleat::store {
namespace {

using test::executeSql;
using test::TemporaryFolder;

void expectRefused(const std::filesystem::path& file, std::string_view part) {
    const auto loaded = load(file);
    ASSERT_FALSE(loaded);
    const std::string& message = loaded.error().message;
    EXPECT_EQ(loaded.error().code, base::ErrorCode::Input) << message;
    EXPECT_EQ(message.find(file.string()), 0U) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    const auto asked = runSql(file, "select 1 from task", {[](const auto&) {}, [](const auto&) {}});
    EXPECT_FALSE(asked);
}

class Refusal : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(writeTrace(test::exampleTrace(), m_file)); }
    TemporaryFolder m_folder;
    std::filesystem::path m_file = m_folder.file("a.pleat");
};

TEST_F(Refusal, AMissingFile) {
    expectRefused(m_folder.file("absent.pleat"), "no such file");
    EXPECT_FALSE(isPleatFile(m_folder.file("absent.pleat")));
}

TEST_F(Refusal, ADirectory) {
    expectRefused(m_folder.file(""), "is a directory");
    EXPECT_FALSE(isPleatFile(m_folder.file("")));
}

TEST_F(Refusal, AnEmptyFile) {
    test::writeBytes(m_folder.file("empty.pleat"), "");
    expectRefused(m_folder.file("empty.pleat"), "is empty");
}

TEST_F(Refusal, ATextFile) {
    test::writeBytes(m_folder.file("text.pleat"), "{\"traceEvents\": []}\n");
    expectRefused(m_folder.file("text.pleat"), "is not a Pleat trace");
    test::writeBytes(m_folder.file("long.pleat"), std::string(5000, 'a'));
    expectRefused(m_folder.file("long.pleat"), "is not a Pleat trace");
    EXPECT_FALSE(isPleatFile(m_folder.file("long.pleat")));
}

TEST_F(Refusal, ADatabaseOfAnotherProgram) {
    executeSql(m_folder.file("other.pleat"), "create table event (id integer)");
    expectRefused(m_folder.file("other.pleat"), "not a Pleat trace");
    EXPECT_FALSE(isPleatFile(m_folder.file("other.pleat")));
}

TEST_F(Refusal, ANewerVersionNamesBothNumbers) {
    executeSql(m_file, "pragma user_version = 12");
    expectRefused(m_file, "has trace version 12, this Pleat reads version 1");
    EXPECT_TRUE(isPleatFile(m_file));
    const auto written = writeAnnotations(test::exampleTrace(), m_file);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("version 12"), std::string::npos);
}

TEST_F(Refusal, AVersionThatNeverWas) {
    executeSql(m_file, "pragma user_version = 0");
    // It may be whole: what is wrong is its version.
    expectRefused(m_file, "has trace version 0, which is not supported");
}

TEST_F(Refusal, AMissingTable) {
    executeSql(m_file, "drop view task_grid; drop view exposed_transfer; drop table task");
    expectRefused(m_file, "no such table: task");
}

TEST_F(Refusal, AMissingColumn) {
    executeSql(m_file, "alter table process_group drop column size");
    const auto loaded = load(m_file);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, base::ErrorCode::Input);
    EXPECT_NE(loaded.error().message.find("no such column: size"), std::string::npos)
        << loaded.error().message;
}

// Changes the example with `sql`, loads it and gives the count of `code`.
std::int64_t countAfter(const std::filesystem::path& file, const std::string& sql,
                        std::string_view code, std::size_t eventsLeft) {
    executeSql(file, sql);
    const auto loaded = load(file);
    EXPECT_TRUE(loaded) << loaded.error().message;
    if (!loaded) return -1;
    EXPECT_EQ(loaded->trace.eventCount(), eventsLeft) << sql;
    const base::Diagnostic* found = loaded->trace.diagnostics().find(code);
    return found == nullptr ? 0 : found->count;
}

TEST_F(Refusal, AnEventOfNoLaneIsLeftOutAndCounted) {
    EXPECT_EQ(countAfter(m_file, "update event set lane = 99 where id = 5", "dangling_row", 8), 1);
    EXPECT_EQ(load(m_file)->trace.diagnostics().find("dangling_row")->example,
              "table event, row 5: its lane is missing from the file; row skipped");
}

TEST_F(Refusal, AnEventOfNoNameOrDomainIsLeftOutAndCounted) {
    EXPECT_EQ(countAfter(m_file,
                         "update event set name = 0 where id = 5;"
                         "update event set domain = -4 where id = 2",
                         "dangling_row", 7),
              3)
        << "two events and the phase that stands on the second";
}

TEST_F(Refusal, ALaneOfNoRankGoesWithItsEvents) {
    EXPECT_EQ(countAfter(m_file, "update lane set rank = 77 where id = 2", "dangling_row", 7), 7)
        << "the lane, its two events, their two transfers and two dependencies";
    const trace::Trace trace = load(m_file)->trace;
    ASSERT_EQ(trace.annotations().transfers.size(), 1U);
    const trace::Transfer& left = trace.annotations().transfers[trace::TransferId(0)];
    ASSERT_TRUE(left.match.valid()) << "the receive is the one member left of its match";
    EXPECT_EQ(trace.annotations().matches[left.match].members.size(), 1U);
}

TEST_F(Refusal, AnnotationsOfNothingAreLeftOutAndCounted) {
    EXPECT_EQ(countAfter(m_file,
                         "update task set rank = 9 where id = 1;"
                         "update task set event = 1234 where id = 2;"
                         "update phase set event = 1234;"
                         "update iteration set rank = 9;"
                         "update match set last_rank = 9;"
                         "update process_group_member set rank = 9 where rank = 2;",
                         "dangling_row", 9),
              8)
        << "the six, and two transfers that lose their match";
    const trace::Trace trace = load(m_file)->trace;
    EXPECT_EQ(trace.annotations().tasks.size(), 1U);
    EXPECT_TRUE(trace.annotations().phases.empty());
    EXPECT_TRUE(trace.annotations().iterations.empty());
    EXPECT_TRUE(trace.annotations().matches.empty());
    for (const trace::Transfer& transfer : trace.annotations().transfers)
        EXPECT_FALSE(transfer.match.valid());
}

TEST_F(Refusal, AMatchWithoutTransfersIsLeftOut) {
    EXPECT_EQ(countAfter(m_file, "insert into match values (9, 1, 1, 1)", "dangling_row", 9), 1);
    EXPECT_EQ(load(m_file)->trace.annotations().matches.size(), 1U);
}

TEST_F(Refusal, AMatchIsNamedByItsRowAndATransferKeepsWhatItHas) {
    executeSql(m_file,
               "insert into match values (7, 1, 1, 1);"
               "update transfer set process_group = 55 where id = 1");
    const trace::Trace trace = load(m_file)->trace;
    EXPECT_EQ(trace.diagnostics().find("dangling_row")->count, 2);
    EXPECT_EQ(trace.diagnostics().find("dangling_row")->example,
              "table transfer, row 1: its process group is missing from the file; the row counts "
              "as without one");
    executeSql(m_file, "update transfer set process_group = null where id = 1");
    EXPECT_EQ(load(m_file)->trace.diagnostics().find("dangling_row")->example,
              "table match, row 7: all of its transfers are missing from the file; row skipped");
}

TEST_F(Refusal, TimesAndRowsBeyondReasonAreLeftOutAndCounted) {
    EXPECT_EQ(countAfter(m_file,
                         "update event set start_ns = -9223372036854775808 where id = 5;"
                         "update event set end_ns = 9223372036854775807 where id = 6;"
                         "update event set id = 5000000000 where id = 9;"
                         "delete from transfer where event = 6",
                         "impossible_row", 6),
              3);
}

TEST_F(Refusal, AnEventThatEndsBeforeItStartsIsRepairedAndCounted) {
    EXPECT_EQ(countAfter(m_file, "update event set end_ns = start_ns - 5 where id = 3",
                         "negative_duration", 9),
              1);
}

TEST_F(Refusal, TasksOfImpossibleStagesAndMicrobatchesAreLeftOut) {
    EXPECT_EQ(countAfter(m_file,
                         "update task set stage = -1 where id = 1;"
                         "update task set stage = 5000000000 where id = 2;"
                         "update task set microbatch = 1000001 where id = 3;"
                         "insert into task select 4, rank, event, iteration, 0, chunk, -1,"
                         " 'OVERLAP_F_B', start_ns, end_ns from task where id = 1",
                         "number_out_of_range", 9),
              3);
    EXPECT_EQ(load(m_file)->trace.annotations().tasks.size(), 1U);
}

TEST_F(Refusal, CountsOfStoredDiagnosticsDoNotOverflow) {
    executeSql(m_file,
               "update task set rank = 77;"
               "insert into diagnostic values"
               " ('dangling_row', 'data_loss', -9223372036854775808, ''),"
               " ('open_range', 'info', 9223372036854775807, '')");
    const auto loaded = load(m_file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    base::Diagnostics diagnostics = loaded->trace.diagnostics();
    EXPECT_EQ(diagnostics.find("dangling_row")->count, 3);
    diagnostics.add("open_range", "");
    EXPECT_GT(diagnostics.find("open_range")->count, 0);
}

TEST_F(Refusal, ExtremeNumbersOfAnnotationsDoNotOverflow) {
    executeSql(m_file,
               "update task set chunk = 5000000000, start_ns = -9223372036854775808,"
               "end_ns = 9223372036854775807 where id = 1;"
               "update match set ready_ns = 9223372036854775807");
    const auto loaded = load(m_file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const trace::Task& task = loaded->trace.annotations().tasks[trace::TaskId(0)];
    EXPECT_EQ(task.chunk, -1);
    EXPECT_GT(task.span.length().ns, 0);
}

}  // namespace
}  // namespace pleat::store
