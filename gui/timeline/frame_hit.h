// What lies under a pixel of a Frame: an event, or idle time between two. What is hit is what is
// seen. Pure functions; safe from any thread.
#pragma once

#include <optional>

#include "timeline/frame.h"

namespace pleat::timeline {

struct FrameHit {
    PlacedRow place;
    base::TraceTime time;   // of the pixel's left edge
    trace::EventId event;   // invalid: idle time
    base::Interval idle;    // from the end of `before` to the start of `after`, where these are
    trace::EventId before;  // invalid: the row has no event before
    trace::EventId after;
};

// Empty outside of rows. Of events narrower than a pixel the longest of the column is hit; where
// the column is empty, that of the nearest column at most `reach` pixels away.
[[nodiscard]] std::optional<FrameHit> hitAt(const Frame& frame, const LodIndex& index,
                                            std::int32_t x, std::int32_t y, std::int32_t reach = 2);

}  // namespace pleat::timeline
