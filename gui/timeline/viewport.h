// Viewport: which stretch of time a width of pixels shows, and the pure functions between the two.
// Column c shows the whole nanoseconds [timeAt(c), timeAt(c + 1)), so that every time lies in
// exactly one column. The viewport's begin is subtracted before any floating point: a picture is
// as exact at 10^18 ns as at 0. Values without state; safe from any thread.
#pragma once

#include <cstdint>

#include "base/interval_set.h"

namespace pleat::timeline {

// The deepest zoom: ten pixels a nanosecond.
inline constexpr double kFinestNsPerPixel = 0.1;

struct Viewport {
    base::TraceTime begin;   // left edge of column 0
    double nsPerPixel = 1;   // at least kFinestNsPerPixel
    std::int32_t width = 1;  // pixels, at least 1
    friend bool operator==(const Viewport&, const Viewport&) = default;
};

// The first nanosecond that is not left of pixel x (which may have a fraction).
[[nodiscard]] base::TraceTime timeAt(const Viewport& viewport, double x);
// Where a time lies, in pixels from the left edge; may lie outside of the viewport.
[[nodiscard]] double pixelAt(const Viewport& viewport, base::TraceTime time);
// The column that shows a time: timeAt(c) <= time < timeAt(c + 1). One left of the viewport gives
// -1, one right of it the width.
[[nodiscard]] std::int32_t columnAt(const Viewport& viewport, base::TraceTime time);
// The edge between columns nearest to a time, within [0, width]. Two times at least
// wholeNsPerPixel() apart have different edges, so nothing that long vanishes between them.
[[nodiscard]] std::int32_t edgeAt(const Viewport& viewport, base::TraceTime time);
// Nanoseconds per pixel, rounded up.
[[nodiscard]] std::int64_t wholeNsPerPixel(const Viewport& viewport);
// What the viewport shows.
[[nodiscard]] base::Interval visible(const Viewport& viewport);

// `factor` below 1 shows less time; the time at pixel x stays there, to half a nanosecond.
[[nodiscard]] Viewport zoomedAround(const Viewport& viewport, double x, double factor);
// Moves the picture: positive pixels show later times.
[[nodiscard]] Viewport panned(const Viewport& viewport, double pixels);
// Shows a whole interval, all of it, on `width` pixels; one without length gets a pixel's worth
// of time around it.
[[nodiscard]] Viewport fitted(base::Interval interval, std::int32_t width);
// Shows what another viewport does, on `width` pixels, as far as it lies within the whole.
[[nodiscard]] Viewport fitted(const Viewport& viewport, base::Interval whole, std::int32_t width);
// The nearest viewport that shows no more than the whole and nothing outside of it.
[[nodiscard]] Viewport clamped(const Viewport& viewport, base::Interval whole);

}  // namespace pleat::timeline
