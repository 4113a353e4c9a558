#include "store/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "store/database.h"
#include "store/trace_file.h"
#include "store/trace_loader.h"

namespace pleat::store {
namespace {

std::optional<std::string> cell(sqlite3_stmt* statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
    const auto* bytes = static_cast<const char*>(
        sqlite3_column_type(statement, column) == SQLITE_BLOB
            ? sqlite3_column_blob(statement, column)
            : static_cast<const void*>(sqlite3_column_text(statement, column)));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    if (sqlite3_column_type(statement, column) != SQLITE_BLOB)
        return std::string(bytes == nullptr ? "" : bytes, size);
    std::string hex = "x'";
    for (std::size_t i = 0; i < size; ++i)
        hex += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
    return hex + "'";
}

// A fault of the query is the caller's (Usage); a fault of the file keeps its kind.
base::Error queryError(const Database& database) {
    const base::Error error = database.error("query");
    const int code = sqlite3_errcode(database.handle()) & 0xff;
    const bool fileAtFault = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
                             code == SQLITE_IOERR || code == SQLITE_BUSY || code == SQLITE_NOMEM ||
                             code == SQLITE_INTERRUPT;
    return {fileAtFault ? error.code : base::ErrorCode::Usage, error.message};
}

// What reading needs. ATTACH (and VACUUM INTO, which attaches) could make or write other files.
int allowReading(void*, int action, const char*, const char*, const char*, const char*) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_FUNCTION:
        case SQLITE_RECURSIVE:
        case SQLITE_PRAGMA:
            return SQLITE_OK;
        default:
            return SQLITE_DENY;
    }
}

// 0 where the table is empty or damaged, which loading it says better.
std::uint64_t largestId(const Database& database, std::string_view table) {
    const auto statement =
        Statement::prepare(database, fmt::format("select max(id) from {}", table));
    const bool found = statement && statement->step().ok();
    return found ? static_cast<std::uint64_t>(std::max<std::int64_t>(statement->integer(0), 0)) : 0;
}

base::Result<void> runStatement(const Database& database, sqlite3_stmt* statement,
                                const SqlSink& sink) {
    std::vector<std::string> columns;
    for (int i = 0; i < sqlite3_column_count(statement); ++i)
        columns.emplace_back(sqlite3_column_name(statement, i));
    if (!columns.empty()) sink.columns(columns);
    int status = SQLITE_OK;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        SqlRow row;
        for (int i = 0; i < static_cast<int>(columns.size()); ++i)
            row.push_back(cell(statement, i));
        sink.row(row);
    }
    if (status != SQLITE_DONE) return queryError(database);
    return {};
}

}  // namespace

bool isPleatFile(const std::filesystem::path& file) { return hasPleatHeader(file); }

base::Result<LoadedTrace> load(const std::filesystem::path& file, const base::Progress& progress) {
    const base::Result<Database> database = openTrace(file, Access::Read);
    if (!database) return database.error();
    // One transaction, so that a run that is still being recorded is seen at one moment.
    if (const auto begun = database->execute("begin"); !begun) return begun.error();
    TraceLoader loader(*database);
    if (!progress) return loader.load();
    const std::uint64_t rows = largestId(*database, "event");
    const std::function<bool()> goOn = [&] { return progress(loader.eventsLoaded(), rows); };
    database->watch(&goOn);
    return loader.load();
}

bool endsStatement(const std::string& text) { return sqlite3_complete(text.c_str()) != 0; }

base::Result<void> runSql(const std::filesystem::path& file, std::string_view query,
                          const SqlSink& sink, const base::Progress& progress) {
    const base::Result<Database> database = openTrace(file, Access::Read);
    if (!database) return database.error();
    sqlite3_set_authorizer(database->handle(), allowReading, nullptr);
    const std::function<bool()> goOn = [&] { return progress(0, 0); };
    if (progress) database->watch(&goOn);
    const char* rest = query.data();
    const char* const end = query.data() + query.size();
    while (rest < end) {
        sqlite3_stmt* statement = nullptr;
        const int status = sqlite3_prepare_v2(database->handle(), rest,
                                              static_cast<int>(end - rest), &statement, &rest);
        const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement,
                                                                          sqlite3_finalize);
        if (status == SQLITE_AUTH || (statement && sqlite3_stmt_readonly(statement) == 0)) {
            return base::Error{
                base::ErrorCode::Usage,
                fmt::format("{}: query: the trace is read-only; copy the file to change it",
                            file.string())};
        }
        if (status != SQLITE_OK) return queryError(*database);
        if (statement == nullptr) continue;  // a comment or an empty statement
        if (const auto done = runStatement(*database, statement, sink); !done) return done;
    }
    return {};
}

}  // namespace pleat::store
