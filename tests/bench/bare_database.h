// The least that SQLite needs for rows of events: a loop of 32-row inserts and nothing around it.
// What the store's speed is compared with.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::bench {

// An event's row with its texts already numbered.
struct BareRow {
    std::int64_t lane = 1, name = 1;
    std::int64_t domain = 0;  // 0: null
    std::int64_t kind = 0, flag = 0;
    std::int64_t startNs = 0, endNs = 0;
    std::string_view arguments;  // empty: null
};

// Failures end the program.
class BareDatabase {
  public:
    explicit BareDatabase(const std::filesystem::path& file);
    ~BareDatabase();
    BareDatabase(const BareDatabase&) = delete;
    BareDatabase& operator=(const BareDatabase&) = delete;
    void run(const char* sql);
    [[nodiscard]] sqlite3_stmt* prepare(const std::string& sql);

  private:
    void check(int code);
    sqlite3* m_database = nullptr;
};

struct BareLink {
    std::int64_t from = 0, to = 0;
};

// Into a new file.
void insertBare(const std::filesystem::path& file, const std::vector<BareRow>& rows);
// The same, then links between events and the index that a finished trace has.
void insertBare(const std::filesystem::path& file, const std::vector<BareRow>& rows,
                const std::vector<BareLink>& links);

}  // namespace pleat::bench
