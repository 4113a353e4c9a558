#include "importers/nsight_strings.h"

#include <fmt/format.h>

#include <utility>

namespace pleat::importers {
namespace {

constexpr NsightColumn kColumns[] = {{"id", ColumnNeed::Required}, {"value", ColumnNeed::Required}};
constexpr NsightSection kSection{
    "strings", "StringIds", kColumns,
    "events have numbers for names; export the whole report with nsys export --type sqlite"};

}  // namespace

base::Result<NsightStrings> NsightStrings::open(const NsightSource& source,
                                                trace::TraceBuilder& builder) {
    NsightStrings strings(builder);
    const auto rows = source.scan(kSection, builder.diagnostics());
    if (!rows) return rows.error();
    if (!rows->has_value()) return strings;
    // Without a key every look-up would read the whole table.
    if (!source.isRowId("StringIds", "id")) {
        if (const auto read = strings.readAll(**rows); !read) return read.error();
        return strings;
    }
    auto lookUp = store::Statement::prepare(source.database(),
                                            "SELECT \"value\" FROM StringIds WHERE \"id\" = ?");
    if (!lookUp) return lookUp.error();
    strings.m_lookUp = std::move(*lookUp);
    return strings;
}

base::Result<void> NsightStrings::readAll(const store::Statement& rows) {
    for (;;) {
        const auto more = rows.step();
        if (!more) return more.error();
        if (!*more) return {};
        m_texts.try_emplace(rows.integer(0), rows.text(1));
    }
}

base::Result<std::string> NsightStrings::text(std::int64_t id) {
    if (!m_lookUp) {
        const auto found = m_texts.find(id);
        return found == m_texts.end() ? std::string() : found->second;
    }
    m_lookUp->bind(1, id);
    const auto found = m_lookUp->step();
    if (!found) return found.error();
    std::string text(*found ? m_lookUp->text(0) : std::string_view());
    sqlite3_reset(m_lookUp->handle());
    return text;
}

base::Result<base::StringId> NsightStrings::name(std::int64_t id) {
    if (const auto known = m_names.find(id); known != m_names.end()) return known->second;
    auto found = text(id);
    if (!found) return found.error();
    if (found->empty()) {
        *found = fmt::format("string {}", id);
        m_builder->diagnostics().add(
            "name_missing", [&] { return fmt::format("StringIds has no text for id {}", id); });
    }
    return m_names.emplace(id, m_builder->intern(*found)).first->second;
}

}  // namespace pleat::importers
