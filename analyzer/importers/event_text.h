// Trace events as text, before any parser sees them: where an event begins and ends in JSON that
// may be damaged, and how broken text is made whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pleat::importers {

inline constexpr std::size_t kNowhere = std::string_view::npos;

// The first position at or after `from` where an event seems to begin: "{", then a key that begins
// events ("ph", "name", "cat", "pid", "tid", "ts", "dur", "id", "args", "bp", "s"), and it is not
// the value of a key. In whole JSON that cannot lie inside a string, whose quotes would be escaped.
[[nodiscard]] std::size_t findEventStart(std::string_view text, std::size_t from);

// The same, but only where a "," precedes: a place to cut a list of events.
[[nodiscard]] std::size_t findEventBoundary(std::string_view text, std::size_t from);

// One past the end of the object that begins at `from` (a "{"); strings and nesting are respected.
// kNowhere when the text ends before.
[[nodiscard]] std::size_t objectEnd(std::string_view text, std::size_t from);

// Does the text from `from` (a "{") on read like JSON as far as it goes? False at the first token
// that JSON cannot have there: so a long event is told from a damaged one before its end is seen.
[[nodiscard]] bool readsLikeJson(std::string_view text, std::size_t from);

[[nodiscard]] std::size_t skipSpace(std::string_view text, std::size_t from);

// What had to be done to make a text whole.
struct Repairs {
    std::size_t invalidUtf8 = 0;        // sequences replaced by U+FFFD
    std::size_t controlCharacters = 0;  // escaped
    [[nodiscard]] bool any() const { return invalidUtf8 + controlCharacters > 0; }
};

// Valid UTF-8 with no control characters inside strings. The text begins outside a string.
[[nodiscard]] Repairs repairText(std::string_view text, std::string& repaired);

}  // namespace pleat::importers
