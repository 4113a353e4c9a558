// What a trace can hold. Whatever lies beyond is damage: it is left out, or kept at the limit, and
// said in the diagnostics. What adds times up or sizes a table by these numbers relies on it.
#pragma once

#include <cstdint>

namespace pleat::trace {

// Times are at most 73 years from the trace's origin, either way: the difference of two fits.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 61;

// Stages, chunks, microbatches and places in the parallel layout; far above any real model.
inline constexpr std::int32_t kMaximumNumber = 1'000'000;

// Of one transfer: a pebibyte, so that a million of them can be added up.
inline constexpr std::int64_t kMaximumBytes = std::int64_t{1} << 50;

// Of a group's transfers.
inline constexpr std::int64_t kMaximumSequence = std::int64_t{1} << 56;

// Of a timer: what contradicts an order by more did happen otherwise. A published run's timers are
// wrong by 120 us (timer_resolution.h estimates a trace's).
inline constexpr std::int64_t kMostTimerNoiseNs = 500'000;

}  // namespace pleat::trace
