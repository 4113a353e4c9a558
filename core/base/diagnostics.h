// Data about the data: what was repaired, dropped, guessed or truncated, by code, with a count and
// the first example. Diagnostics travel with the trace into the database, the report and the
// viewer; they are never only in a log.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::base {

enum class Severity : std::uint8_t {
    Info,      // nothing lost; something was chosen or repaired
    DataLoss,  // something recorded is missing or was dropped
    Error,     // a part of the answer cannot be given
};

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
    // Counts further occurrences under the same code; keeps the first example. A code has one
    // severity.
    void add(Severity severity, std::string_view code, std::string_view example,
             std::int64_t count = 1);
    void add(const Diagnostics& others);
    [[nodiscard]] std::span<const Diagnostic> entries() const { return m_entries; }
    [[nodiscard]] const Diagnostic* find(std::string_view code) const;
    [[nodiscard]] bool empty() const { return m_entries.empty(); }

  private:
    std::vector<Diagnostic> m_entries;  // a handful of codes: a linear search is enough
};

}  // namespace pleat::base
