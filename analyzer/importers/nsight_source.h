// An export as tables that may or may not be there: which tables and columns it has, and a scan
// over the columns of one section, those absent read as NULL. What is absent is said once per
// section: "section_missing_<key>", "column_missing_<key>" (Info), "section_unreadable_<key>"
// (DataLoss: rows are there, but not the columns without which they mean nothing). Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/result.h"
#include "store/database.h"

namespace pleat::importers {

enum class ColumnNeed : std::uint8_t {
    Required,  // a row without it means nothing
    Wanted,    // without it something is lost
    Optional,  // came with later versions, or one of several
};

struct NsightColumn {
    const char* name;
    ColumnNeed need;
};

// A table and the columns read from it, in the order of their positions in a row.
struct NsightSection {
    const char* key;  // in diagnostic codes
    const char* table;
    std::span<const NsightColumn> columns;
    const char* whenMissing;  // what follows and how to record it; empty: absence is normal
};

class NsightSource {
  public:
    // Io error where the file cannot be opened, Input error where it is no database.
    [[nodiscard]] static base::Result<NsightSource> open(const std::filesystem::path& file);

    [[nodiscard]] bool isExport() const;
    [[nodiscard]] bool has(const std::string& table) const { return m_columns.contains(table); }
    // The column that finds a row without a scan.
    [[nodiscard]] bool isRowId(const std::string& table, const std::string& column) const;
    [[nodiscard]] const store::Database& database() const { return m_database; }

    // All rows in their order; nothing where the table or a required column is absent.
    [[nodiscard]] base::Result<std::optional<store::Statement>> scan(
        const NsightSection& section) const;
    // The same, with absences said.
    [[nodiscard]] base::Result<std::optional<store::Statement>> scan(
        const NsightSection& section, base::Diagnostics& diagnostics) const;
    // For a table that is there without rows, which means the same as no table.
    void reportMissing(const NsightSection& section, base::Diagnostics& diagnostics) const;

  private:
    explicit NsightSource(store::Database database) : m_database(std::move(database)) {}
    [[nodiscard]] base::Result<void> discover();
    [[nodiscard]] std::string missingColumns(const NsightSection& section, ColumnNeed need) const;

    store::Database m_database;
    std::map<std::string, std::set<std::string>> m_columns;  // of each table
    std::set<std::string> m_rowIds;                          // "table.column"
};

// Calls `use` with every row of a scan; nothing where the section is absent.
template <class Use>
[[nodiscard]] base::Result<void> forEachRow(
    const base::Result<std::optional<store::Statement>>& rows, Use use) {
    if (!rows) return rows.error();
    if (!rows->has_value()) return {};
    for (;;) {
        const auto more = (*rows)->step();
        if (!more) return more.error();
        if (!*more) return {};
        use(**rows);
    }
}

// NULL and absent columns are nothing.
[[nodiscard]] std::optional<std::int64_t> integerAt(const store::Statement& row, int column);

}  // namespace pleat::importers
