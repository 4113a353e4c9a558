// Data about the data: what was repaired, dropped, guessed or truncated, by code, with a count and
// the first example. Diagnostics travel with the trace into the database, the report and the
// viewer; they are never only in a log.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic_codes.h"

namespace pleat::base {

[[nodiscard]] std::string_view toString(Severity severity);  // "info", "data_loss", "error"

struct Diagnostic {
    Severity severity = Severity::Info;
    std::string code;  // snake_case, stable: scripts rely on it
    std::int64_t count = 0;
    std::string example;  // the first one: what and where, in words
    friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
  public:
    // Counts further occurrences under the same code; keeps the first example.
    void add(DiagnosticCode code, std::string_view example, std::int64_t count = 1) {
        add(code.kind(), code.kind().code, example, count);
    }
    // The example is put into words only where it is the first: what happens in half of all events
    // is not worded for each.
    template <std::invocable Words>
    void add(DiagnosticCode code, const Words& words, std::int64_t count = 1) {
        if (Diagnostic* known = findMutable(code.kind().code)) {
            known->count += count;
        } else {
            add(code.kind(), code.kind().code, words(), count);
        }
    }
    // A member of a family, such as the table "kernels" for "section_missing_*".
    void addMember(DiagnosticCode family, std::string_view member, std::string_view example);
    // One from a file, whatever its code.
    void add(const Diagnostic& stored);
    void add(const Diagnostics& others);
    [[nodiscard]] std::span<const Diagnostic> entries() const { return m_entries; }
    [[nodiscard]] const Diagnostic* find(std::string_view code) const;
    [[nodiscard]] bool empty() const { return m_entries.empty(); }

  private:
    void add(const DiagnosticKind& kind, std::string_view code, std::string_view example,
             std::int64_t count);
    [[nodiscard]] Diagnostic* findMutable(std::string_view code);

    std::vector<Diagnostic> m_entries;  // a handful of codes: a linear search is enough
};

}  // namespace pleat::base
