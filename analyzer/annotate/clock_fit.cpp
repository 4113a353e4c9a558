#include "annotate/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/statistics.h"

namespace pleat::annotate {
namespace {

// A drift is taken where it explains the moments this much better than an offset alone.
constexpr double kPlainDrift = 4;
constexpr std::size_t kFewestForDrift = 6;
// Clocks of computers stay within 0.05 %; what looks like more is no drift.
constexpr double kMostDrift = 500e-6;

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
    return base::medianOf(std::move(slopes));
}

double medianUndrifted(const ClockLine& line, const std::vector<ClockAnchor>& anchors) {
    std::vector<double> rest;
    for (const ClockAnchor& anchor : anchors) rest.push_back(undrifted(line, anchor));
    return base::medianOf(std::move(rest));
}

// The median difference, and a drift where it is plain.
ClockLine fitLine(const std::vector<ClockAnchor>& anchors) {
    ClockLine flat;
    flat.anchors = anchors.size();
    std::vector<double> times;
    for (const ClockAnchor& anchor : anchors) times.push_back(anchor.time);
    flat.origin = base::medianOf(std::move(times));
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

// All lines that messages allow: above every limit that says "at least", below every other, and no
// steeper than clocks differ. Of the limits only those can matter that lie on the upper hull of the
// former and the lower hull of the latter. For one drift the offsets allowed are an interval whose
// ends are a convex and a concave function of the drift, so extremes are found by halving.
class AllowedLines {
  public:
    AllowedLines(std::vector<ClockLimit> limits, double origin) : m_origin(origin) {
        std::sort(limits.begin(), limits.end(),
                  [](const ClockLimit& a, const ClockLimit& b) { return a.time < b.time; });
        for (const ClockLimit& limit : limits)
            addToHull(limit.atLeast ? m_least : m_most, limit, limit.atLeast ? 1 : -1);
        if (!m_least.empty() && !m_most.empty()) findDrifts();
    }

    [[nodiscard]] bool any() const { return m_drifts.has_value(); }
    // Offsets at the origin.
    [[nodiscard]] double least(double drift) const {
        double least = -std::numeric_limits<double>::infinity();
        for (const ClockLimit& limit : m_least) least = std::max(least, offset(limit, drift));
        return least;
    }
    [[nodiscard]] double most(double drift) const {
        double most = std::numeric_limits<double>::infinity();
        for (const ClockLimit& limit : m_most) most = std::min(most, offset(limit, drift));
        return most;
    }
    // The least and most that any allowed line says at a time. Needs any().
    [[nodiscard]] std::pair<double, double> extremesAt(double time) const {
        const double run = time - m_origin;
        const auto& [low, high] = *m_drifts;
        const double first = lowest(low, high, [&](double d) { return least(d) + d * run; });
        const double last = lowest(low, high, [&](double d) { return -(most(d) + d * run); });
        return {least(first) + first * run, most(last) + last * run};
    }

  private:
    static constexpr int kHalvings = 80;

    [[nodiscard]] double offset(const ClockLimit& limit, double drift) const {
        return limit.difference - drift * (limit.time - m_origin);
    }

    // `side` 1: the upper hull of points that come in order of time; -1: the lower.
    static void addToHull(std::vector<ClockLimit>& hull, const ClockLimit& point, double side) {
        const auto below = [&](const ClockLimit& a, const ClockLimit& b, const ClockLimit& c) {
            const double onLine = (b.difference - a.difference) * (c.time - a.time) -
                                  (c.difference - a.difference) * (b.time - a.time);
            return side * onLine <= 0;
        };
        while (hull.size() > 1 && below(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
        hull.push_back(point);
    }

    // Where a convex function is least.
    template <class Function>
    static double lowest(double low, double high, Function function) {
        for (int i = 0; i < kHalvings; ++i) {
            const double third = (high - low) / 3;
            const double left = low + third, right = high - third;
            if (function(left) <= function(right)) {
                high = right;
            } else {
                low = left;
            }
        }
        return (low + high) / 2;
    }

    void findDrifts() {
        const auto lacking = [&](double drift) { return least(drift) - most(drift); };
        const double inside = lacking(0) <= 0 ? 0 : lowest(-kMostDrift, kMostDrift, lacking);
        if (lacking(inside) > 0) return;
        const auto edge = [&](double outside) {
            if (lacking(outside) <= 0) return outside;
            double allowed = inside;
            for (int i = 0; i < kHalvings; ++i) {
                const double middle = (allowed + outside) / 2;
                (lacking(middle) <= 0 ? allowed : outside) = middle;
            }
            return allowed;
        };
        m_drifts = {edge(-kMostDrift), edge(kMostDrift)};
    }

    const double m_origin;
    std::vector<ClockLimit> m_least, m_most;  // hulls, ascending in time
    std::optional<std::pair<double, double>> m_drifts;
};

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

std::optional<ClockLine> fitMessages(const std::vector<ClockLimit>& limits, double first,
                                     double last) {
    const AllowedLines lines(limits, first);
    if (!lines.any()) return std::nullopt;
    const auto [leastFirst, mostFirst] = lines.extremesAt(first);
    const auto [leastLast, mostLast] = lines.extremesAt(last);
    ClockLine line;
    line.anchors = limits.size();
    line.origin = first;
    const double least = lines.least(0), most = lines.most(0);
    if (least > most) {
        line.offset = (leastFirst + mostFirst) / 2;
        line.drift = ((leastLast + mostLast) / 2 - line.offset) / (last - first);
    } else if (least > 0 || most < 0) {
        line.offset = (least + most) / 2;
    }
    const double atLast = line.offset + line.drift * (last - first);
    line.worst = std::max(
        {mostFirst - line.offset, line.offset - leastFirst, mostLast - atLast, atLast - leastLast});
    return line;
}

std::optional<ClockLine> fitMessagesOnUtc(const std::vector<ClockLimit>& limits, double first,
                                          double last) {
    const auto within = [&](double spread) {
        std::vector<ClockLimit> all = limits;
        for (const double time : {first, last}) {
            all.push_back({time, -spread, true});
            all.push_back({time, spread, false});
        }
        std::optional<ClockLine> line = fitMessages(all, first, last);
        if (line) line->anchors = limits.size();
        return line;
    };
    if (const auto line = within(kUtcSpreadNs)) return line;
    if (const auto line = fitMessages(limits, first, last)) return line;
    constexpr double kMostNs = 1e13;  // hosts hours apart do not keep UTC
    for (double spread = kUtcSpreadNs; spread < kMostNs; spread *= 2) {
        if (const auto line = within(spread)) return line;
    }
    return std::nullopt;
}

}  // namespace pleat::annotate
