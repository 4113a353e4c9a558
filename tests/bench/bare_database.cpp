#include "bench/bare_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace pleat::bench {
namespace {

constexpr std::size_t kRowsPerStatement = 32;
constexpr std::size_t kRowsPerCommit = 131'072;

[[noreturn]] void fail(const char* why) {
    fmt::print(stderr, "bare database: {}\n", why);
    std::exit(1);
}

// `insert`: up to "values ", `row`: the parameters of one.
sqlite3_stmt* prepareInsert(BareDatabase& database, const std::string& insert,
                            const std::string& row, std::size_t rows) {
    std::string sql = insert + row;
    for (std::size_t i = 1; i < rows; ++i) sql += "," + row;
    return database.prepare(sql);
}

// As many as go into one statement at once, the rest one by one; `bind` gets a statement, its first
// parameter's number less one, and the position of an item.
template <class Bind>
void insertAll(BareDatabase& database, const std::string& insert, const std::string& row,
               int columns, std::size_t items, Bind bind) {
    sqlite3_stmt* many = prepareInsert(database, insert, row, kRowsPerStatement);
    sqlite3_stmt* one = prepareInsert(database, insert, row, 1);
    for (std::size_t at = 0; at < items;) {
        const bool full = items - at >= kRowsPerStatement;
        sqlite3_stmt* statement = full ? many : one;
        const std::size_t count = full ? kRowsPerStatement : 1;
        for (std::size_t i = 0; i < count; ++i)
            bind(statement, static_cast<int>(i) * columns, at + i);
        if (sqlite3_step(statement) != SQLITE_DONE) fail("an insert failed");
        sqlite3_reset(statement);
        if (at % kRowsPerCommit == 0) database.run("commit; begin");
        at += count;
    }
    sqlite3_finalize(many);
    sqlite3_finalize(one);
}

void bindRow(sqlite3_stmt* insert, int first, const BareRow& row) {
    sqlite3_bind_int64(insert, first + 1, row.lane);
    sqlite3_bind_int64(insert, first + 2, row.name);
    if (row.domain == 0) {
        sqlite3_bind_null(insert, first + 3);
    } else {
        sqlite3_bind_int64(insert, first + 3, row.domain);
    }
    sqlite3_bind_int64(insert, first + 4, row.kind);
    sqlite3_bind_int64(insert, first + 5, row.flag);
    sqlite3_bind_int64(insert, first + 6, row.startNs);
    sqlite3_bind_int64(insert, first + 7, row.endNs);
    if (row.arguments.empty()) {
        sqlite3_bind_null(insert, first + 8);
    } else {
        sqlite3_bind_text64(insert, first + 8, row.arguments.data(), row.arguments.size(),
                            SQLITE_STATIC, SQLITE_UTF8);
    }
}

void insertRows(BareDatabase& database, const std::vector<BareRow>& rows) {
    database.run(
        "pragma journal_mode=wal; pragma synchronous=normal; create table event (id integer "
        "primary key, lane integer not null, name integer not null, domain integer, kind integer "
        "not null, flag integer not null, start_ns integer not null, end_ns integer not null, args "
        "text) strict; begin");
    insertAll(
        database,
        "insert into event (lane, name, domain, kind, flag, start_ns, end_ns, args) values ",
        "(?,?,?,?,?,?,?,?)", 8, rows.size(),
        [&](sqlite3_stmt* insert, int first, std::size_t i) { bindRow(insert, first, rows[i]); });
    database.run("commit");
}

}  // namespace

BareDatabase::BareDatabase(const std::filesystem::path& file) {
    check(sqlite3_open(file.c_str(), &m_database));
}

BareDatabase::~BareDatabase() { sqlite3_close_v2(m_database); }

void BareDatabase::run(const char* sql) {
    check(sqlite3_exec(m_database, sql, nullptr, nullptr, nullptr));
}

sqlite3_stmt* BareDatabase::prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(m_database, sql.c_str(), -1, &statement, nullptr));
    return statement;
}

void BareDatabase::check(int code) {
    if (code == SQLITE_OK) return;
    fail(sqlite3_errmsg(m_database));
}

void insertBare(const std::filesystem::path& file, const std::vector<BareRow>& rows) {
    std::filesystem::remove(file);
    BareDatabase database(file);
    insertRows(database, rows);
}

void insertBare(const std::filesystem::path& file, const std::vector<BareRow>& rows,
                const std::vector<BareLink>& links) {
    std::filesystem::remove(file);
    BareDatabase database(file);
    insertRows(database, rows);
    database.run(
        "create table dependency (id integer primary key, from_event integer not null, to_event "
        "integer not null, kind text not null) strict; begin");
    insertAll(database, "insert into dependency (from_event, to_event, kind) values ",
              "(?,?,'launch')", 2, links.size(),
              [&](sqlite3_stmt* insert, int first, std::size_t i) {
                  sqlite3_bind_int64(insert, first + 1, links[i].from);
                  sqlite3_bind_int64(insert, first + 2, links[i].to);
              });
    database.run("create index event_by_lane on event (lane, start_ns); commit");
}

}  // namespace pleat::bench
