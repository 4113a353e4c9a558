#include "timeline/viewport.h"

#include <algorithm>
#include <cmath>

#include "trace/limits.h"

namespace pleat::timeline {
namespace {

// A trace lasts at most from -kFarthestNs to kFarthestNs. What is shown begins not far outside of
// that, and is not longer; sums of the two fit.
constexpr auto kFarthestBegin = static_cast<double>(trace::kFarthestNs) * 1.1;
constexpr auto kLongest = static_cast<double>(trace::kFarthestNs) * 2;

// Rounded up. Not std::ceil: that is a call, and a frame needs a million.
std::int64_t roundedUp(double value) {
    const double limited = std::clamp(value, -kLongest, kLongest);
    const auto cut = static_cast<std::int64_t>(limited);
    return cut + (static_cast<double>(cut) < limited ? 1 : 0);
}

std::int64_t offsetAt(const Viewport& viewport, double x) {
    return roundedUp(x * viewport.nsPerPixel);
}

base::TraceTime plus(base::TraceTime time, double ns) {
    const double sum = static_cast<double>(time.ns) + ns;
    if (std::abs(sum) > kFarthestBegin)
        return {static_cast<std::int64_t>(std::copysign(kFarthestBegin, sum))};
    return {time.ns + std::llround(ns)};
}

// The smallest c in [low, high] for which the first time of pixel c + shift lies after `time`.
// The quotient is off by at most a few units where a column is short beside the distance.
std::int32_t firstAfter(const Viewport& viewport, base::TraceTime time, double shift,
                        std::int32_t low, std::int32_t high) {
    auto c = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(roundedUp(pixelAt(viewport, time) - shift), low, high));
    while (c > low && timeAt(viewport, c - 1 + shift) > time) --c;
    while (c < high && timeAt(viewport, c + shift) <= time) ++c;
    return c;
}

}  // namespace

base::TraceTime timeAt(const Viewport& viewport, double x) {
    return viewport.begin + base::Duration{offsetAt(viewport, x)};
}

double pixelAt(const Viewport& viewport, base::TraceTime time) {
    return static_cast<double>((time - viewport.begin).ns) / viewport.nsPerPixel;
}

std::int32_t columnAt(const Viewport& viewport, base::TraceTime time) {
    if (time < viewport.begin) return -1;
    return firstAfter(viewport, time, 0, 0, viewport.width + 1) - 1;
}

std::int32_t edgeAt(const Viewport& viewport, base::TraceTime time) {
    return firstAfter(viewport, time, 0.5, 0, viewport.width);
}

std::int64_t wholeNsPerPixel(const Viewport& viewport) { return roundedUp(viewport.nsPerPixel); }

base::Interval visible(const Viewport& viewport) {
    return {viewport.begin, timeAt(viewport, viewport.width)};
}

Viewport zoomedAround(const Viewport& viewport, double x, double factor) {
    Viewport zoomed = viewport;
    zoomed.nsPerPixel =
        std::clamp(viewport.nsPerPixel * factor, kFinestNsPerPixel, kLongest / viewport.width);
    zoomed.begin = plus(viewport.begin, x * (viewport.nsPerPixel - zoomed.nsPerPixel));
    return zoomed;
}

Viewport panned(const Viewport& viewport, double pixels) {
    Viewport moved = viewport;
    moved.begin = plus(viewport.begin, pixels * viewport.nsPerPixel);
    return moved;
}

Viewport fitted(base::Interval interval, std::int32_t width) {
    Viewport viewport{interval.begin, 1, std::max(width, 1)};
    const auto length = static_cast<double>(std::max<std::int64_t>(interval.length().ns, 1));
    viewport.nsPerPixel = std::max(length / viewport.width, kFinestNsPerPixel);
    // A quotient rounded down would cut off the last nanoseconds.
    while (visible(viewport).end < interval.end) viewport.nsPerPixel *= 1 + 1e-15;
    return viewport;
}

Viewport fitted(const Viewport& viewport, base::Interval whole, std::int32_t width) {
    return clamped(viewport.width == width ? viewport : fitted(visible(viewport), width), whole);
}

Viewport clamped(const Viewport& viewport, base::Interval whole) {
    const Viewport all = fitted(whole, viewport.width);
    if (viewport.nsPerPixel >= all.nsPerPixel) return all;
    Viewport inside = viewport;
    inside.nsPerPixel = std::max(viewport.nsPerPixel, kFinestNsPerPixel);
    const base::Duration length = visible(inside).end - inside.begin;
    inside.begin = std::max(whole.begin, std::min(inside.begin, whole.end - length));
    return inside;
}

}  // namespace pleat::timeline
