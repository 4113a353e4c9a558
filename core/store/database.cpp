#include "store/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/say.h"

namespace pleat::store {
namespace {

constexpr int kLargestValueBytes = 64 << 20;       // of one text: no event has more
constexpr int kStepsBetweenQuestions = 1'000'000;  // of SQLite's virtual machine, about 20 a row

base::ErrorCode codeOf(sqlite3* database) {
    switch (sqlite3_errcode(database) & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_ERROR:  // a table or column is missing
        case SQLITE_CONSTRAINT:
            return base::ErrorCode::Input;
        case SQLITE_INTERRUPT:
            return base::ErrorCode::Cancelled;
        default:
            return base::ErrorCode::Io;
    }
}

}  // namespace

std::string lastMessage(sqlite3* database) {
    constexpr std::size_t kMost = 400;  // it may quote a whole table's definition
    std::string message = sqlite3_errmsg(database);
    std::replace_if(
        message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return base::printable(message, kMost);
}

base::Result<Database> Database::open(const std::filesystem::path& file, int flags) {
    sqlite3* handle = nullptr;
    // Without a mutex of SQLite's own, which every bound value would lock: one thread at a time
    // uses a database.
    const int status = sqlite3_open_v2(file.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database;
    database.m_handle.reset(handle);
    database.m_file = file.string();
    if (status != SQLITE_OK) return database.error("cannot be opened");
    // A damaged or hostile file must not run functions through its schema.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLargestValueBytes);
    sqlite3_busy_timeout(handle, 5'000);
    return database;
}

base::Result<void> Database::execute(const char* sql) const {
    if (sqlite3_exec(m_handle.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return error("database");
    return {};
}

void Database::watch(const std::function<bool()>* goOn) const {
    const auto ask = [](void* watcher) {
        return (*static_cast<const std::function<bool()>*>(watcher))() ? 0 : 1;
    };
    if (goOn == nullptr) return sqlite3_progress_handler(m_handle.get(), 0, nullptr, nullptr);
    sqlite3_progress_handler(m_handle.get(), kStepsBetweenQuestions, ask,
                             const_cast<std::function<bool()>*>(goOn));
}

base::Error Database::error(std::string_view doing) const {
    return {codeOf(m_handle.get()),
            fmt::format("{}: {}: {}", m_file, doing, lastMessage(m_handle.get()))};
}

base::Result<Statement> Statement::prepare(const Database& database, std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    const int status = sqlite3_prepare_v2(database.handle(), sql.data(),
                                          static_cast<int>(sql.size()), &handle, nullptr);
    Statement statement;
    statement.m_handle.reset(handle);
    statement.m_file = database.file();
    if (status != SQLITE_OK) return database.error("the trace file is incomplete");
    return statement;
}

base::Result<bool> Statement::step() const {
    const int status = sqlite3_step(m_handle.get());
    if (status == SQLITE_ROW) return true;
    if (status == SQLITE_DONE) {
        sqlite3_reset(m_handle.get());
        return false;
    }
    sqlite3* database = sqlite3_db_handle(m_handle.get());
    const base::Error error{codeOf(database), fmt::format("{}: {}", m_file, lastMessage(database))};
    sqlite3_reset(m_handle.get());
    return error;
}

base::Result<void> Statement::run() const {
    const base::Result<bool> stepped = step();
    return stepped ? base::Result<void>() : base::Result<void>(stepped.error());
}

std::string_view Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(m_handle.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(m_handle.get(), column))};
}

}  // namespace pleat::store
