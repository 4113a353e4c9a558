// Sound databases with spoiled rows. The bytes are a list of instructions: the first says which
// database, then each takes a table and a row of it to delete, copy or change, with odd values.
// What mutating pages cannot do: nearly every input is a whole database.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/database.h"
#include "fuzz/properties.h"
#include "fuzz/sound_databases.h"

namespace pleat::fuzz {
namespace {

// The instructions; zeros behind their end.
class Instructions {
  public:
    explicit Instructions(Bytes bytes) : m_rest(bytes) {}
    [[nodiscard]] bool empty() const { return m_rest.empty(); }
    unsigned char byte() {
        if (m_rest.empty()) return 0;
        const unsigned char first = m_rest.front();
        m_rest = m_rest.subspan(1);
        return first;
    }
    std::int64_t word() {
        std::uint64_t word = 0;
        for (int i = 0; i < 8; ++i) word = word << 8 | byte();
        return static_cast<std::int64_t>(word);
    }
    std::string_view text() {
        const std::size_t wanted = byte();  // shortens the rest, so before it is asked for its size
        const std::size_t size = std::min(wanted, m_rest.size());
        const Bytes taken = m_rest.first(size);
        m_rest = m_rest.subspan(size);
        return {reinterpret_cast<const char*>(taken.data()), size};
    }

  private:
    Bytes m_rest;
};

constexpr std::array<std::int64_t, 24> kOddNumbers = {INT64_MIN,
                                                      INT64_MIN + 1,
                                                      INT64_MAX,
                                                      INT64_MAX - 1,
                                                      std::int64_t{1} << 61,
                                                      (std::int64_t{1} << 61) + 1,
                                                      -(std::int64_t{1} << 61),
                                                      -(std::int64_t{1} << 61) - 1,
                                                      std::int64_t{1} << 62,
                                                      INT32_MAX,
                                                      INT32_MIN,
                                                      std::int64_t{1} << 31,
                                                      std::int64_t{1} << 32,
                                                      UINT32_MAX,
                                                      -1,
                                                      -2,
                                                      1'000'000,
                                                      1'000'001,
                                                      4'096,
                                                      65'536,
                                                      999'999'999'999,
                                                      59,
                                                      60,
                                                      34};

constexpr std::array<std::string_view, 48> kOddTexts = {
    "",
    "0F0",
    "0B0",
    "1F0",
    "1F1",
    "1B1",
    "0I0",
    "0W0",
    "0SEND_F0",
    "1RECV_F0",
    "1SEND_B0",
    "0RECV_B0",
    "0REDUCE_GRAD",
    "0UNSHARD",
    "(0F1;0B0)OVERLAP_F_B",
    "iteration",
    "data",
    "optimizer",
    "rank",
    "process_group",
    "pleat",
    "pleat.comm",
    "all_reduce",
    "send",
    "recv",
    "pp",
    "dp",
    "1",
    "complete",
    "annotated",
    "state",
    "F",
    "B",
    "I",
    "W",
    "SEND_F",
    "OVERLAP_F_B",
    "launch",
    "gpipe",
    "folded",
    "interleaved",
    "{\"iteration\":1}",
    "{\"iteration\":0,\"stage\":0,\"chunk\":0,\"microbatch\":1}",
    "{\"bytes\":9223372036854775807,\"sequence\":0,\"group\":0,\"peer\":1,\"operation\":\"send\"}",
    "{\"rank\":2147483647,\"pp\":1,\"dp\":-1}",
    "{\"group\":9223372036854775807,\"size\":2147483647,\"dimension\":\"dp\"}",
    "{\"a\":{\"b\":[1,2,\"\\u0000\"]}}",
    "{broken"};

class Spoiler {
  public:
    Spoiler(sqlite3* database, Bytes bytes) : m_database(database), m_instructions(bytes) {
        (void)m_instructions.byte();  // which database
        forEachText("select name from sqlite_schema where type = 'table' order by name", {},
                    [&](std::string name) { m_tables.push_back(std::move(name)); });
        for (const std::string& table : m_tables) {
            std::vector<std::string>& columns = m_columns.emplace_back();
            forEachText("select name from pragma_table_info(?)", table,
                        [&](std::string name) { columns.push_back(std::move(name)); });
        }
    }

    void run() {
        constexpr int kMostInstructions = 200;
        for (int i = 0; i < kMostInstructions && !m_instructions.empty(); ++i) runOne();
    }

  private:
    template <class Use>
    void forEachText(const char* sql, std::string_view parameter, Use use) {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(m_database, sql, -1, &statement, nullptr);
        sqlite3_bind_text(statement, 1, parameter.data(), static_cast<int>(parameter.size()),
                          SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW)
            use(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
        sqlite3_finalize(statement);
    }

    void runOne() {
        const std::size_t table = m_instructions.byte() % m_tables.size();
        const std::string name = '"' + m_tables[table] + '"';
        const std::vector<std::string>& columns = m_columns[table];
        const std::string column = '"' + columns[m_instructions.byte() % columns.size()] + '"';
        // Tables without row ids are found by their first column.
        const std::string id = isWithoutRowId(m_tables[table]) ? '"' + columns[0] + '"' : "rowid";
        const unsigned char what = m_instructions.byte();
        const std::string where = " where " + id + " = (select " + id + " from " + name +
                                  " limit 1 offset " + std::to_string(what / 8) + ')';
        switch (what % 8) {
            case 0:
                return change("delete from " + name + where);
            case 1:
                return copyRow(name, where, column);
            case 2:
                if (what / 8 == 1) return change("alter table " + name + " drop column " + column);
                if (what / 8 == 2) return change("drop table " + name);
                return change("update " + name + " set " + column + " = ?");
            default:
                return change("update " + name + " set " + column + " = ?" + where);
        }
    }

    static bool isWithoutRowId(std::string_view table) {
        return table == "meta" || table == "process_group_member" || table == "diagnostic";
    }

    // The row once more, with a new id where it has one, and one value of its own.
    void copyRow(const std::string& table, const std::string& where, const std::string& column) {
        std::string names, values;
        for (const std::string& each : m_columns[tableIndex(table)]) {
            const std::string quoted = '"' + each + '"';
            if (each == "id" && quoted != column) continue;
            names += (names.empty() ? "" : ",") + quoted;
            values += (values.empty() ? "" : ",") + (quoted == column ? "?" : quoted);
        }
        change("insert or ignore into " + table + " (" + names + ") select " + values + " from " +
               table + where);
    }

    std::size_t tableIndex(const std::string& quoted) const {
        for (std::size_t i = 0; i < m_tables.size(); ++i) {
            if (quoted == '"' + m_tables[i] + '"') return i;
        }
        return 0;
    }

    // Runs it with the next value; that it fails (a table dropped before) is no matter.
    void change(const std::string& sql) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(m_database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
            return;
        if (sqlite3_bind_parameter_count(statement) == 1) bindNext(statement);
        sqlite3_step(statement);
        sqlite3_finalize(statement);
    }

    void bindNext(sqlite3_stmt* statement) {
        const unsigned char what = m_instructions.byte();
        const unsigned char which = m_instructions.byte();
        switch (what % 8) {
            case 0:
                return (void)sqlite3_bind_int64(statement, 1,
                                                kOddNumbers[which % kOddNumbers.size()]);
            case 1:
                return (void)sqlite3_bind_int64(statement, 1, m_instructions.word());
            case 2:
                return bindText(statement, kOddTexts[which % kOddTexts.size()]);
            case 3:
                return bindText(statement, m_instructions.text());
            case 4:
                return bindRealOrNull(statement, which);
            case 5: {
                const std::string_view text = m_instructions.text();
                sqlite3_bind_blob(statement, 1, text.data(), static_cast<int>(text.size()),
                                  SQLITE_TRANSIENT);
                return;
            }
            case 6:
                return (void)sqlite3_bind_int64(statement, 1, std::int64_t{which} * 100);
            default:
                return (void)sqlite3_bind_int64(statement, 1, which % 16);
        }
    }

    static void bindText(sqlite3_stmt* statement, std::string_view text) {
        sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
    }

    void bindRealOrNull(sqlite3_stmt* statement, unsigned char which) {
        double real = 0;
        const std::int64_t word = which % 2 == 0 ? 0 : m_instructions.word();
        std::memcpy(&real, &word, sizeof real);
        which % 2 == 0 ? sqlite3_bind_null(statement, 1) : sqlite3_bind_double(statement, 1, real);
    }

    sqlite3* m_database;
    Instructions m_instructions;
    std::vector<std::string> m_tables;
    std::vector<std::vector<std::string>> m_columns;  // of each table
};

}  // namespace

void databaseRows(Bytes bytes) {
    const unsigned char first = bytes.empty() ? 0 : bytes.front();
    const std::string& sound = first % 3 == 0 ? soundExport() : soundRecording();
    const std::filesystem::path file = scratchFile("spoiled");
    writeScratch(file, {reinterpret_cast<const unsigned char*>(sound.data()), sound.size()});
    sqlite3* database = nullptr;
    require(sqlite3_open(file.c_str(), &database) == SQLITE_OK, "a sound database can be opened");
    executeOn(database,
              "pragma journal_mode = off; pragma synchronous = off; "
              "pragma ignore_check_constraints = on; begin");
    // Without annotations they are made anew from the events.
    if (first % 3 == 1) executeOn(database, "delete from meta where key = 'annotated'");
    Spoiler(database, bytes).run();
    executeOn(database, "commit");
    sqlite3_close(database);
    useDatabase(file);
}

}  // namespace pleat::fuzz
