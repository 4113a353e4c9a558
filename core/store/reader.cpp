#include "store/reader.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <utility>

#include "store/database.h"
#include "store/trace_loader.h"

namespace pleat::store {
namespace {

base::Error unusable(const std::filesystem::path& file, std::string_view why) {
    return {base::ErrorCode::Input, fmt::format("{}: {}", file.string(), why)};
}

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

// The first bytes decide, so that a text file or a directory gets its own words instead of
// SQLite's.
base::Result<void> checkHeader(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return unusable(file, "no such file");
    if (std::filesystem::is_directory(file, ignored))
        return unusable(file, "is a directory, not a trace");
    std::array<char, 16> head{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return unusable(file, "cannot be read; check its permissions");
    stream.read(head.data(), head.size());
    if (stream.gcount() == 0) return unusable(file, "is empty");
    if (std::string_view(head.data(), static_cast<std::size_t>(stream.gcount())) != kSqliteMagic) {
        return unusable(file, "is not a Pleat trace (*.pleat, a SQLite database)");
    }
    return {};
}

base::Result<std::int64_t> pragma(const Database& database, const char* sql) {
    const base::Result<Statement> statement = Statement::prepare(database, sql);
    if (!statement) return statement.error();
    const base::Result<bool> row = statement->step();
    if (!row) return row.error();
    return *row ? statement->integer(0) : 0;
}

base::Result<Database> openTrace(const std::filesystem::path& file) {
    if (const auto header = checkHeader(file); !header) return header.error();
    base::Result<Database> database = Database::open(file, SQLITE_OPEN_READONLY);
    if (!database) return database.error();
    const base::Result<std::int64_t> application = pragma(*database, "pragma application_id");
    if (!application) return application.error();
    if (*application != kApplicationId)
        return unusable(file, "is a SQLite database, but not a Pleat trace");
    const base::Result<std::int64_t> version = pragma(*database, "pragma user_version");
    if (!version) return version.error();
    if (*version != kSchemaVersion) {
        return unusable(
            file,
            fmt::format(
                "has trace version {}, this Pleat reads version {}; use the Pleat that wrote it",
                *version, kSchemaVersion));
    }
    return database;
}

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
    if (status != SQLITE_DONE) return database.error("query", base::ErrorCode::Usage);
    return {};
}

}  // namespace

bool isPleatFile(const std::filesystem::path& file) {
    std::array<char, 72> head{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(head.data(), head.size());
    // Bytes 68 to 71 of a SQLite file are the application id, big-endian.
    std::int32_t application = 0;
    for (std::size_t i = 68; i < 72; ++i)
        application = (application << 8) | static_cast<unsigned char>(head[i]);
    return stream.gcount() == static_cast<std::streamsize>(head.size()) &&
           std::string_view(head.data(), 16) == kSqliteMagic && application == kApplicationId;
}

base::Result<LoadedTrace> load(const std::filesystem::path& file) {
    const base::Result<Database> database = openTrace(file);
    if (!database) return database.error();
    // One transaction, so that a run that is still being recorded is seen at one moment.
    if (const auto begun = database->execute("begin"); !begun) return begun.error();
    return TraceLoader(*database).load();
}

base::Result<void> runSql(const std::filesystem::path& file, std::string_view query,
                          const SqlSink& sink) {
    const base::Result<Database> database = openTrace(file);
    if (!database) return database.error();
    if (const auto done = database->execute("pragma query_only = on"); !done) return done;
    const char* rest = query.data();
    const char* const end = query.data() + query.size();
    while (rest < end) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database->handle(), rest, static_cast<int>(end - rest), &statement,
                               &rest) != SQLITE_OK) {
            return database->error("query", base::ErrorCode::Usage);
        }
        const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement,
                                                                          sqlite3_finalize);
        if (statement == nullptr) continue;  // a comment or an empty statement
        if (sqlite3_stmt_readonly(statement) == 0) {
            return base::Error{base::ErrorCode::Usage,
                               fmt::format("{}: only reading is allowed: {}", file.string(),
                                           sqlite3_sql(statement))};
        }
        if (const auto done = runStatement(*database, statement, sink); !done) return done;
    }
    return {};
}

}  // namespace pleat::store
