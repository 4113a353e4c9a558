// From ticks of the recorded programs to trace time: nanoseconds since the recording began. The
// counter's rate is taken over the whole recording so far (first to last anchor), which keeps the
// error near 10 ns; a short calibration would drift by microseconds. One thread.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "collector/ring.h"

namespace pleat::collector {

struct ClockAnchor {
    std::uint64_t ticks = 0;
    std::int64_t monotonicNs = 0;
    std::int64_t unixNs = 0;
};

// The counter when it runs at one rate in every power state and alike on every processor, else
// CLOCK_MONOTONIC.
[[nodiscard]] TickSource chooseTickSource();
[[nodiscard]] ClockAnchor takeAnchor(TickSource source);

class TickClock {
  public:
    TickClock(TickSource source, ClockAnchor first)
        : m_source(source), m_first(first), m_last(first) {}

    void add(ClockAnchor anchor) { m_last = anchor; }
    [[nodiscard]] base::TraceTime toTraceTime(std::uint64_t ticks) const;
    [[nodiscard]] const ClockAnchor& origin() const { return m_first; }
    [[nodiscard]] TickSource source() const { return m_source; }

  private:
    TickSource m_source;
    ClockAnchor m_first, m_last;
};

}  // namespace pleat::collector
