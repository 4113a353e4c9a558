// Times as trace files write them: decimal microseconds, read digit by digit, because 17
// significant digits do not fit a double.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pleat::importers {

// Nanoseconds of a decimal number of microseconds, rounded half away from zero; the number may
// stand in quotes and have an exponent. Nothing where the text is no such number or the time lies
// beyond 2^61 ns.
[[nodiscard]] std::optional<std::int64_t> nanosecondsOf(std::string_view microseconds);

}  // namespace pleat::importers
