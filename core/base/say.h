// Words for a person on standard error. Saying something never fails and never stops a program:
// where nobody can hear it, it goes on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pleat::base {

// Text of a file or a program as one line that cannot move a terminal's cursor: control characters
// and bytes that are no UTF-8 become \xNN, and what is longer than `most` bytes is cut ("…").
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 4'000);

// One line on standard error, made printable.
void say(std::string_view line) noexcept;

}  // namespace pleat::base
