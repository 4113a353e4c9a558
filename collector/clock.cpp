#include "collector/clock.h"

#include <cmath>

#include "collector/ticks.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pleat::collector {

TickSource chooseTickSource() {
#if defined(__x86_64__)
    // CPUID 8000'0007h, EDX bit 8: the time-stamp counter is invariant. The kernel's choice of
    // clock says nothing about it: under a virtual machine's own clock the counter is good all the
    // same.
    unsigned int a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0)
        return TickSource::Counter;
#endif
    return TickSource::Monotonic;
}

ClockAnchor takeAnchor(TickSource source) {
    // The tightest of a few: an interruption between the two readings would shift every event by
    // its length.
    ClockAnchor best;
    std::uint64_t narrowest = ~0ULL;
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::uint64_t before = readTicks(source);
        const std::int64_t monotonic = readClock(CLOCK_MONOTONIC);
        const std::uint64_t after = readTicks(source);
        if (after - before >= narrowest) continue;
        narrowest = after - before;
        best = {before + (after - before) / 2, monotonic, readClock(CLOCK_REALTIME)};
    }
    return best;
}

base::TraceTime TickClock::toTraceTime(std::uint64_t ticks) const {
    const auto sinceLast = static_cast<std::int64_t>(ticks - m_last.ticks);
    if (m_source == TickSource::Monotonic)
        return {static_cast<std::int64_t>(ticks) - m_first.monotonicNs};
    const auto span = static_cast<std::int64_t>(m_last.ticks - m_first.ticks);
    const std::int64_t elapsed = m_last.monotonicNs - m_first.monotonicNs;
    const long double rate =
        span > 0 ? static_cast<long double>(elapsed) / static_cast<long double>(span) : 1.0L;
    return {elapsed +
            static_cast<std::int64_t>(std::llroundl(static_cast<long double>(sinceLast) * rate))};
}

}  // namespace pleat::collector
