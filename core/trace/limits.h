// What a trace can hold. Whatever lies beyond is damage: it is left out, or kept at the limit, and
// said in the diagnostics. What adds times up or sizes a table by these numbers relies on it.
#pragma once

#include <cstdint>

namespace pleat::trace {

// Times are at most 73 years from the trace's origin, either way: the difference of two fits.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 61;

// Stages and microbatches; far above any real model.
inline constexpr std::int32_t kMaximumNumber = 1'000'000;

}  // namespace pleat::trace
