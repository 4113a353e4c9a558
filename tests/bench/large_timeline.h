// The run that benchmarks of the viewer show, and the flight over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "timeline/viewport.h"
#include "trace/trace.h"

namespace pleat::bench {

inline constexpr std::int32_t kScreenWidth = 3840, kScreenHeight = 2160;

// About so many events of 32 ranks, each with a host thread three rows deep and a device stream.
// The same number gives the same run.
[[nodiscard]] std::shared_ptr<const trace::Trace> makeLargeTimeline(std::size_t events);

// Zooms in from the whole to ten pixels a nanosecond, moving sideways on the way, and out.
[[nodiscard]] std::vector<timeline::Viewport> flight(base::Interval whole, std::int32_t width);

// What each frame of a flight took, seconds, over several flights. On a machine that does other
// things too the slowest single frame is one whose thread had to wait, whatever it showed; so the
// worst frame is the one whose median over the flights is longest.
class FlightTimes {
  public:
    void add(std::size_t frame, double seconds);
    [[nodiscard]] double medianMs() const;
    [[nodiscard]] double worstMs() const;
    [[nodiscard]] std::size_t worstFrame() const;
    [[nodiscard]] double slowestSingleMs() const;

  private:
    std::vector<std::vector<double>> m_frames;  // [frame][flight]
};

}  // namespace pleat::bench
