#include "store/database.h"

#include <fmt/format.h>

#include <utility>

namespace pleat::store {

base::Result<Database> Database::open(const std::filesystem::path& file, int flags) {
    sqlite3* handle = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
    Database database;
    database.m_handle.reset(handle);
    database.m_file = file.string();
    if (status != SQLITE_OK) return database.error("opening it");
    sqlite3_busy_timeout(handle, 5'000);
    return database;
}

base::Result<void> Database::execute(const char* sql) const {
    if (sqlite3_exec(m_handle.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return error("writing");
    return {};
}

base::Error Database::error(std::string_view doing, base::ErrorCode code) const {
    return {code, fmt::format("{}: {}: {}", m_file, doing, sqlite3_errmsg(m_handle.get()))};
}

base::Result<Statement> Statement::prepare(const Database& database, std::string_view sql) {
    sqlite3_stmt* handle = nullptr;
    const int status = sqlite3_prepare_v2(database.handle(), sql.data(),
                                          static_cast<int>(sql.size()), &handle, nullptr);
    Statement statement;
    statement.m_handle.reset(handle);
    statement.m_file = database.file();
    if (status != SQLITE_OK) return database.error("preparing a statement", base::ErrorCode::Input);
    return statement;
}

base::Result<bool> Statement::step() const {
    const int status = sqlite3_step(m_handle.get());
    if (status == SQLITE_ROW) return true;
    sqlite3* database = sqlite3_db_handle(m_handle.get());
    const std::string message = status == SQLITE_DONE ? "" : sqlite3_errmsg(database);
    sqlite3_reset(m_handle.get());
    if (status == SQLITE_DONE) return false;
    const bool damaged = status == SQLITE_CORRUPT || status == SQLITE_NOTADB;
    return base::Error{damaged ? base::ErrorCode::Input : base::ErrorCode::Io,
                       fmt::format("{}: {}", m_file, message)};
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
