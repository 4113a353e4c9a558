#include "annotate/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pleat::annotate {
namespace {

// A drift is taken where it explains the moments this much better than an offset alone.
constexpr double kPlainDrift = 4;
constexpr std::size_t kFewestForDrift = 6;
// Clocks of computers stay within 0.05 %; what looks like more is no drift.
constexpr double kMostDrift = 500e-6;
constexpr std::size_t kWindows = 16;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// What an anchor or a limit says beside the line's drift.
template <class Point>
double undrifted(const ClockLine& line, const Point& point) {
    return point.difference - line.drift * (point.time - line.origin);
}

// Sets line.worst; returns the root mean square distance.
double measure(ClockLine& line, const std::vector<ClockAnchor>& anchors) {
    double sum = 0;
    line.worst = 0;
    for (const ClockAnchor& anchor : anchors) {
        const double away = undrifted(line, anchor) - line.offset;
        line.worst = std::max(line.worst, std::abs(away));
        sum += away * away;
    }
    return std::sqrt(sum / static_cast<double>(anchors.size()));
}

// Theil-Sen: the median slope stands a few moments that were not the same.
std::optional<double> medianSlope(const std::vector<ClockAnchor>& anchors) {
    std::vector<double> slopes;
    const std::size_t step = std::max<std::size_t>(1, anchors.size() / 64);
    for (std::size_t i = 0; i < anchors.size(); ++i) {
        for (std::size_t j = i + 1; j < anchors.size(); j += step) {
            const double span = anchors[j].time - anchors[i].time;
            if (span != 0) slopes.push_back((anchors[j].difference - anchors[i].difference) / span);
        }
    }
    if (slopes.empty()) return std::nullopt;
    return median(std::move(slopes));
}

double medianUndrifted(const ClockLine& line, const std::vector<ClockAnchor>& anchors) {
    std::vector<double> rest;
    for (const ClockAnchor& anchor : anchors) rest.push_back(undrifted(line, anchor));
    return median(std::move(rest));
}

// The median difference, and a drift where it is plain.
ClockLine fitLine(const std::vector<ClockAnchor>& anchors) {
    ClockLine flat;
    flat.anchors = anchors.size();
    std::vector<double> times;
    for (const ClockAnchor& anchor : anchors) times.push_back(anchor.time);
    flat.origin = median(std::move(times));
    flat.offset = medianUndrifted(flat, anchors);
    const double flatRoot = measure(flat, anchors);
    if (anchors.size() < kFewestForDrift || flatRoot <= kEndSpreadNs / 2) return flat;
    const std::optional<double> slope = medianSlope(anchors);
    if (!slope || std::abs(*slope) > kMostDrift) return flat;
    ClockLine sloped = flat;
    sloped.drift = *slope;
    sloped.offset = medianUndrifted(sloped, anchors);
    return measure(sloped, anchors) * kPlainDrift < flatRoot ? sloped : flat;
}

struct Room {
    double atLeast = -std::numeric_limits<double>::infinity();
    double atMost = std::numeric_limits<double>::infinity();
    [[nodiscard]] bool twoSided() const { return std::isfinite(atLeast) && std::isfinite(atMost); }
    [[nodiscard]] double middle() const { return (atLeast + atMost) / 2; }
};

template <class Iterator>
Room roomOf(const ClockLine& line, Iterator first, Iterator last) {
    Room room;
    for (; first != last; ++first) {
        const double difference = undrifted(line, *first);
        if (first->atLeast) {
            room.atLeast = std::max(room.atLeast, difference);
        } else {
            room.atMost = std::min(room.atMost, difference);
        }
    }
    return room;
}

// The drift of the middle of the room that messages leave, window by window.
std::optional<double> driftOfMiddles(std::vector<ClockLimit> limits) {
    std::sort(limits.begin(), limits.end(),
              [](const ClockLimit& a, const ClockLimit& b) { return a.time < b.time; });
    std::vector<ClockAnchor> middles;
    for (std::size_t window = 0; window < kWindows; ++window) {
        const auto at = [&](std::size_t part) {
            return limits.begin() + static_cast<std::ptrdiff_t>(limits.size() * part / kWindows);
        };
        const Room room = roomOf({}, at(window), at(window + 1));
        if (!room.twoSided()) continue;
        const auto middle = at(window) + (at(window + 1) - at(window)) / 2;
        middles.push_back({middle->time, room.middle()});
    }
    return medianSlope(middles);
}

}  // namespace

ClockLine fitMoments(const std::vector<ClockAnchor>& anchors) {
    ClockLine line = fitLine(anchors);
    if (line.drift == 0 && std::abs(line.offset) <= kEndSpreadNs) {
        line.worst += std::abs(line.offset);
        line.offset = 0;
    }
    line.worst = std::max(line.worst, kEndSpreadNs);
    return line;
}

std::optional<ClockLine> fitMessages(const std::vector<ClockLimit>& limits) {
    ClockLine line;
    line.anchors = limits.size();
    Room room = roomOf(line, limits.begin(), limits.end());
    if (!room.twoSided()) return std::nullopt;
    if (room.atLeast > room.atMost) {
        const std::optional<double> drift = driftOfMiddles(limits);
        if (!drift || std::abs(*drift) > kMostDrift) return std::nullopt;
        line.drift = *drift;
        line.origin = limits.front().time;
        room = roomOf(line, limits.begin(), limits.end());
        if (room.atLeast > room.atMost) return std::nullopt;
    } else if (room.atLeast <= 0 && room.atMost >= 0) {
        line.worst = std::max(-room.atLeast, room.atMost);
        return line;
    }
    line.offset = room.middle();
    line.worst = (room.atMost - room.atLeast) / 2;
    return line;
}

}  // namespace pleat::annotate
