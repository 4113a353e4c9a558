// Read-only SQL, and the views of the schema by rows computed by hand.
#include <gtest/gtest.h>

#include <string>

#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"
#include "unit/store/example_trace.h"
#include "unit/store/sqlite_client.h"

namespace pleat::store {
namespace {

using test::TemporaryFolder;

// Rows as lines, cells joined by '|', NULL as "null".
struct Answer {
    std::string columns, rows;
    base::Result<void> done;
};

Answer ask(const std::filesystem::path& file, std::string_view query) {
    Answer answer;
    const SqlSink sink{[&](const std::vector<std::string>& columns) {
                           for (const std::string& column : columns) answer.columns += column + " ";
                       },
                       [&](const SqlRow& row) {
                           for (std::size_t i = 0; i < row.size(); ++i)
                               answer.rows += (i == 0 ? "" : "|") + row[i].value_or("null");
                           answer.rows += "\n";
                       }};
    answer.done = runSql(file, query, sink);
    return answer;
}

class Sql : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(writeTrace(test::exampleTrace(), m_file)); }
    std::string rows(std::string_view query) {
        const Answer answer = ask(m_file, query);
        EXPECT_TRUE(answer.done) << answer.done.error().message;
        return answer.rows;
    }
    void expectRefused(std::string_view query, std::string_view part) {
        const std::string before = test::readBytes(m_file);
        const Answer answer = ask(m_file, query);
        ASSERT_FALSE(answer.done) << query;
        EXPECT_EQ(answer.done.error().code, base::ErrorCode::Usage) << query;
        const std::string& message = answer.done.error().message;
        EXPECT_EQ(message.find(m_file.string()), 0U) << message;
        EXPECT_NE(message.find(part), std::string::npos) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_EQ(test::readBytes(m_file), before) << query;
    }
    TemporaryFolder m_folder;
    std::filesystem::path m_file = m_folder.file("a.pleat");
};

TEST(SqlText, EndsWithASemicolonThatBelongsToNoLiteralOrComment) {
    EXPECT_TRUE(endsStatement("select 1;\n"));
    EXPECT_TRUE(endsStatement("select ';';\n"));
    EXPECT_FALSE(endsStatement("select 'a;\n"));
    EXPECT_FALSE(endsStatement("select \"a;b\"\n"));
    EXPECT_FALSE(endsStatement("select 1 -- then;\n"));
    EXPECT_FALSE(endsStatement("select 1 /* ; */\n"));
}

TEST_F(Sql, GivesColumnsAndCells) {
    const Answer answer = ask(
        m_file, "select 1 as one, null as absent, 2.5 as half, 'x' || char(10) as t, x'00ff' as b");
    ASSERT_TRUE(answer.done);
    EXPECT_EQ(answer.columns, "one absent half t b ");
    EXPECT_EQ(answer.rows, "1|null|2.5|x\n|x'00ff'\n");
}

TEST_F(Sql, RunsSeveralStatementsAndSkipsComments) {
    EXPECT_EQ(rows("select 1; -- a comment\n ; select 2;\n/* the end */"), "1\n2\n");
    EXPECT_EQ(rows(""), "");
    EXPECT_EQ(rows("  "), "");
}

TEST_F(Sql, AStatementBeforeAWrongOneIsAnswered) {
    const Answer answer = ask(m_file, "select 7; select nonsense from task");
    EXPECT_EQ(answer.rows, "7\n");
    EXPECT_FALSE(answer.done);
}

TEST_F(Sql, WrongSqlIsAUsageErrorWithSqlitesWords) {
    expectRefused("selekt 1", "near \"selekt\": syntax error");
    expectRefused("select * from absent", "no such table: absent");
    expectRefused("select abs(-9223372036854775808)", "integer overflow");
}

TEST_F(Sql, NothingCanBeWritten) {
    for (const char* query :
         {"delete from event", "insert into meta values ('a', 'b')", "update task set stage = 9",
          "create table t (a)", "create temp table t (a)", "drop table task", "vacuum",
          "pragma user_version = 7", "pragma journal_mode = wal", "begin immediate",
          "with x as (select 1) delete from event"}) {
        expectRefused(query, "the trace is read-only");
    }
}

TEST_F(Sql, NoOtherFileIsMadeOrRead) {
    const std::string other = m_folder.file("other.db").string();
    expectRefused("attach '" + other + "' as other", "the trace is read-only");
    expectRefused("vacuum into '" + other + "'", "the trace is read-only");
    EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_F(Sql, ReadingPragmasAndExplainWork) {
    EXPECT_EQ(rows("pragma user_version"), "1\n");
    EXPECT_EQ(rows("pragma application_id"), std::to_string(0x504C'4554) + "\n");
    EXPECT_EQ(rows("pragma integrity_check"), "ok\n");
    EXPECT_NE(rows("explain query plan select * from event where lane = 1").find("event_by_lane"),
              std::string::npos);
}

TEST_F(Sql, NamedEventSpellsOutTheNames) {
    EXPECT_EQ(rows("select * from named_event where id in (3, 5, 6) order by id"),
              "3|0|1|main|pleat|0F0|100|300|200|{\"iteration\":3,\"microbatch\":0}\n"
              "5|0|1|main|null|note|950|950|0|null\n"
              "6|0|2||pleat.comm|0SEND_F0|300|420|120|{\"bytes\":64}\n");
    EXPECT_EQ(rows("select count(*) from named_event"), "9\n");
}

TEST_F(Sql, TaskGridShowsWhatEachRankRanInOrder) {
    EXPECT_EQ(rows("select iteration, dp, pp, position, action, start_ns, duration_ns "
                   "from task_grid order by pp, position"),
              "3|0|0|0|0F0|100|200\n"
              "3|0|0|1|0B0|700|200\n"
              "3|0|1|0|1F0|430|170\n");
}

// As reports name it, and not the row's id, which counts from 1.
TEST_F(Sql, ViewsNameARankByItsNumber) {
    for (const char* view : {"named_event", "task_grid", "exposed_transfer"})
        EXPECT_EQ(rows(std::string("select distinct rank from ") + view + " order by 1"), "0\n1\n")
            << view;
    EXPECT_EQ(rows("select rank, stage, chunk, microbatch, kind, end_ns from task_grid "
                   "order by rank, position"),
              "0|0|0|0|F|300\n"
              "0|0|0|0|B|900\n"
              "1|1|0|0|F|600\n");
}

TEST_F(Sql, ExposedTransferSplitsWaitingMovingAndExposed) {
    // The send begins last, so nothing waits on it; nobody computes meanwhile. The all-reduce has
    // no match, and the backward until 900 covers 50 of its 140 ns. The receive waits from 200 to
    // 300.
    EXPECT_EQ(rows("select rank, operation, dimension, bytes, waiting_ns, moving_ns, "
                   "exposed_moving_ns from exposed_transfer order by id"),
              "0|send|pp|64|0|120|120\n"
              "0|all_reduce|dp|128|0|140|90\n"
              "1|recv|pp|64|100|120|120\n");
}

}  // namespace
}  // namespace pleat::store
