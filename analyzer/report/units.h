// How figures are written for a person: milliseconds with three digits, percentages that sum to
// 100, text wrapped to the report's width. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/time.h"

namespace pleat::report {

inline constexpr std::size_t kTextWidth = 100;

// "12.346"; the unit stands in the column's head. Rounded half away from zero, from integers.
[[nodiscard]] std::string milliseconds(base::Duration duration);
// "62.1 %"
[[nodiscard]] std::string percent(double fraction);

// Tenths of a percent for every part, summing to exactly 1000 (largest remainder, the first of
// equals); all 0 when the parts sum to 0. Parts >= 0.
[[nodiscard]] std::vector<std::int32_t> tenthsOfPercent(std::span<const base::Duration> parts);

// `prefix` + text broken at blanks so that no line exceeds kTextWidth where a blank allows it;
// further lines are indented to the prefix's length. Ends with a newline.
[[nodiscard]] std::string wrapped(std::string_view prefix, std::string_view text);

// A "Notes" section with one entry per diagnostic, worst first; empty without any. `of` says what
// the notes are on where a report has several.
[[nodiscard]] std::string renderDiagnostics(const base::Diagnostics& diagnostics,
                                            std::string_view of = "the data");

}  // namespace pleat::report
