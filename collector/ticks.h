// The clock an event is stamped with. The time-stamp counter costs half of clock_gettime; the
// recorder decides whether it can be trusted (clock.h) and turns its ticks into nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "collector/ring.h"

namespace pleat::collector {

[[nodiscard]] inline std::int64_t readClock(clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

[[nodiscard]] inline std::uint64_t readTicks(TickSource source) {
#if defined(__x86_64__)
    if (source == TickSource::Counter) return __rdtsc();
#endif
    static_cast<void>(source);
    return static_cast<std::uint64_t>(readClock(CLOCK_MONOTONIC));
}

}  // namespace pleat::collector
