#include "importers/nsight_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pleat::importers {
namespace {

// Double quotes inside a name are doubled; names come from the file.
std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

}  // namespace

base::Result<NsightSource> NsightSource::open(const std::filesystem::path& file) {
    auto database = store::Database::open(file, SQLITE_OPEN_READONLY);
    if (!database) return database.error();
    NsightSource source(std::move(*database));
    if (const auto discovered = source.discover(); !discovered) return discovered.error();
    return source;
}

base::Result<void> NsightSource::discover() {
    const auto rows = store::Statement::prepare(
        m_database,
        "SELECT t.name, c.name, c.pk = 1 AND upper(c.type) = 'INTEGER' FROM sqlite_master t, "
        "pragma_table_info(t.name) c WHERE t.type = 'table' AND t.sql LIKE 'CREATE TABLE%'");
    if (!rows) return rows.error();
    for (;;) {
        const auto more = rows->step();
        if (!more) return more.error();
        if (!*more) return {};
        const std::string table(rows->text(0));
        const std::string column(rows->text(1));
        m_columns[table].insert(column);
        if (rows->integer(2) != 0) m_rowIds.insert(table + '.' + column);
    }
}

bool NsightSource::isExport() const {
    return has("StringIds") || has("META_DATA_EXPORT") ||
           std::any_of(m_columns.begin(), m_columns.end(), [](const auto& table) {
               return table.first.starts_with("CUPTI_ACTIVITY_KIND_");
           });
}

bool NsightSource::isRowId(const std::string& table, const std::string& column) const {
    return m_rowIds.contains(table + '.' + column);
}

std::string NsightSource::missingColumns(const NsightSection& section, ColumnNeed need) const {
    std::string missing;
    const std::set<std::string>& present = m_columns.at(section.table);
    for (const NsightColumn& column : section.columns) {
        if (column.need != need || present.contains(column.name)) continue;
        missing += (missing.empty() ? "" : ", ") + std::string(column.name);
    }
    return missing;
}

base::Result<std::optional<store::Statement>> NsightSource::scan(
    const NsightSection& section) const {
    const auto table = m_columns.find(section.table);
    if (table == m_columns.end() || !missingColumns(section, ColumnNeed::Required).empty())
        return std::optional<store::Statement>();
    std::string sql = "SELECT ";
    for (const NsightColumn& column : section.columns) {
        if (&column != section.columns.data()) sql += ", ";
        sql += table->second.contains(column.name) ? quoted(column.name) : "NULL";
    }
    sql += " FROM " + quoted(section.table) + " ORDER BY rowid";
    auto statement = store::Statement::prepare(m_database, sql);
    if (!statement) return statement.error();
    return std::optional(std::move(*statement));
}

base::Result<std::optional<store::Statement>> NsightSource::scan(
    const NsightSection& section, base::Diagnostics& diagnostics) const {
    if (!has(section.table)) {
        reportMissing(section, diagnostics);
        return std::optional<store::Statement>();
    }
    if (const auto columns = missingColumns(section, ColumnNeed::Required); !columns.empty()) {
        diagnostics.addMember(
            "section_unreadable_*", section.key,
            fmt::format("{} has no {}: its rows are skipped", section.table, columns));
    } else if (const auto wanted = missingColumns(section, ColumnNeed::Wanted); !wanted.empty()) {
        diagnostics.addMember(
            "column_missing_*", section.key,
            fmt::format("{} has no {}, so this information is missing; a newer nsys may export it",
                        section.table, wanted));
    }
    return scan(section);
}

void NsightSource::reportMissing(const NsightSection& section,
                                 base::Diagnostics& diagnostics) const {
    if (*section.whenMissing == '\0') return;
    std::string example = fmt::format("no rows in {}: {}", section.table, section.whenMissing);
    const auto similar = m_columns.upper_bound(section.table);
    if (similar != m_columns.end() && similar->first.starts_with(section.table))
        example +=
            fmt::format(" (the file has {}, which this version does not support)", similar->first);
    diagnostics.addMember("section_missing_*", section.key, example);
}

std::optional<std::int64_t> integerAt(const store::Statement& row, int column) {
    if (row.isNull(column)) return std::nullopt;
    return row.integer(column);
}

}  // namespace pleat::importers
