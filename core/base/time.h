// Time as a type: points of three clocks that do not mix, and durations. Integer nanoseconds end to
// end; only the clock model (and the collector's drain, for the time-stamp counter) turns one clock
// into another.
#pragma once

#include <compare>
#include <cstdint>

namespace pleat::base {

struct Duration {
    std::int64_t ns = 0;

    friend constexpr auto operator<=>(Duration, Duration) = default;
    friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
    friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
    friend constexpr Duration operator-(Duration a) { return {-a.ns}; }
    constexpr Duration& operator+=(Duration other) { return ns += other.ns, *this; }
    constexpr Duration& operator-=(Duration other) { return ns -= other.ns, *this; }
};

template <class Clock>
struct TimePoint {
    std::int64_t ns = 0;

    friend constexpr auto operator<=>(TimePoint, TimePoint) = default;
    friend constexpr TimePoint operator+(TimePoint a, Duration d) { return {a.ns + d.ns}; }
    friend constexpr TimePoint operator-(TimePoint a, Duration d) { return {a.ns - d.ns}; }
    friend constexpr Duration operator-(TimePoint a, TimePoint b) { return {a.ns - b.ns}; }
};

// Nanoseconds since the trace's origin, aligned across ranks. What analyses use.
using TraceTime = TimePoint<struct TraceClock>;
// CLOCK_MONOTONIC of one host.
using HostTime = TimePoint<struct HostClock>;
// A device's own clock.
using DeviceTime = TimePoint<struct DeviceClock>;

}  // namespace pleat::base
