// Names of an export: ids into StringIds, looked up when first used, since a table of millions of
// them can be larger than the trace. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "importers/nsight_source.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

class NsightStrings {
  public:
    // Both must outlive it.
    [[nodiscard]] static base::Result<NsightStrings> open(const NsightSource& source,
                                                          trace::TraceBuilder& builder);

    // A name that is not there becomes "string <id>", counted as "name_missing". Input error where
    // the table is damaged.
    [[nodiscard]] base::Result<base::StringId> name(std::int64_t id);
    // As text, valid until the next call; empty where there is none.
    [[nodiscard]] base::Result<std::string> text(std::int64_t id);

  private:
    explicit NsightStrings(trace::TraceBuilder& builder) : m_builder(&builder) {}
    [[nodiscard]] base::Result<void> readAll(const store::Statement& rows);

    trace::TraceBuilder* m_builder;
    std::optional<store::Statement> m_lookUp;  // nothing: every name was read at the start
    std::unordered_map<std::int64_t, base::StringId> m_names;
    std::unordered_map<std::int64_t, std::string> m_texts;  // only where names were read at once
};

}  // namespace pleat::importers
