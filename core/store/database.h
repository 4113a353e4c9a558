// The one place that talks to sqlite3: a connection, a prepared statement, errors in words.
// Internal to the store and to the importers of other profilers' databases. One thread at a time
// uses a connection and its statements.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/result.h"

namespace pleat::store {

inline constexpr std::uint32_t kApplicationId = 0x504C'4554;  // "PLET"
inline constexpr std::uint32_t kSchemaVersion = 1;

// SQLite's last message as one line; parts of a damaged file in it lose their control characters.
[[nodiscard]] std::string lastMessage(sqlite3* database);

class Database {
  public:
    // `flags` as sqlite3_open_v2 takes them. Io error naming the file.
    [[nodiscard]] static base::Result<Database> open(const std::filesystem::path& file, int flags);

    [[nodiscard]] sqlite3* handle() const { return m_handle.get(); }
    [[nodiscard]] const std::string& file() const { return m_file; }
    [[nodiscard]] base::Result<void> execute(const char* sql) const;
    // Asked about every 20 ms of a statement's work; false ends it with the code Cancelled. `goOn`
    // must live as long as statements run; null: nobody is asked.
    void watch(const std::function<bool()>* goOn) const;
    // SQLite's last message as an error that names the file and what was being done: Input where
    // the file's contents are at fault, else Io.
    [[nodiscard]] base::Error error(std::string_view doing) const;

  private:
    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    std::unique_ptr<sqlite3, Close> m_handle;
    std::string m_file;
};

class Statement {
  public:
    [[nodiscard]] static base::Result<Statement> prepare(const Database& database,
                                                         std::string_view sql);

    // Parameters count from 1. Text is not copied: it must live until step() returned.
    void bind(int parameter, std::int64_t value) const {
        sqlite3_bind_int64(m_handle.get(), parameter, value);
    }
    void bind(int parameter, double value) const {
        sqlite3_bind_double(m_handle.get(), parameter, value);
    }
    void bind(int parameter, std::string_view text) const {
        // SQLite takes a null pointer for NULL; an empty text is a text.
        const char* data = text.data() == nullptr ? "" : text.data();
        sqlite3_bind_text64(m_handle.get(), parameter, data, text.size(), SQLITE_STATIC,
                            SQLITE_UTF8);
    }
    void bindNull(int parameter) const { sqlite3_bind_null(m_handle.get(), parameter); }
    // True while there is a row, false at the end; then the statement is reset.
    [[nodiscard]] base::Result<bool> step() const;
    // Runs a statement that gives no rows.
    [[nodiscard]] base::Result<void> run() const;

    [[nodiscard]] std::int64_t integer(int column) const {
        return sqlite3_column_int64(m_handle.get(), column);
    }
    [[nodiscard]] double real(int column) const {
        return sqlite3_column_double(m_handle.get(), column);
    }
    [[nodiscard]] bool isNull(int column) const {
        return sqlite3_column_type(m_handle.get(), column) == SQLITE_NULL;
    }
    // Valid until the next step.
    [[nodiscard]] std::string_view text(int column) const;
    [[nodiscard]] sqlite3_stmt* handle() const { return m_handle.get(); }

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> m_handle;
    std::string m_file;
};

// Ids of the database count from 1, ours from 0.
template <class Tag>
[[nodiscard]] std::int64_t rowId(base::Id<Tag> id) {
    return static_cast<std::int64_t>(id.index()) + 1;
}

// Negative numbers mean "unknown" with us and are NULL in the file.
inline void bindOrNull(const Statement& statement, int parameter, std::int64_t value) {
    if (value >= 0) {
        statement.bind(parameter, value);
    } else {
        statement.bindNull(parameter);
    }
}

}  // namespace pleat::store
