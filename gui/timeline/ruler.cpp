#include "timeline/ruler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pleat::timeline {
namespace {

struct Unit {
    std::int64_t ns = 1;
    std::string_view name;
};
constexpr std::array<Unit, 4> kUnits = {
    {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};

std::uint64_t magnitudeOf(std::int64_t ns) {
    return ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
}

// The largest unit that is not larger than `ns`.
Unit unitOf(std::uint64_t ns) {
    for (const Unit unit : kUnits)
        if (ns >= static_cast<std::uint64_t>(unit.ns)) return unit;
    return kUnits.back();
}

// The decimals that tell multiples of `step` apart in `unit`.
int decimalsOf(Unit unit, std::int64_t step) {
    int decimals = 0;
    for (std::int64_t part = unit.ns; part > 1 && step % part != 0; part /= 10) ++decimals;
    return decimals;
}

// Cut off, not rounded, behind `decimals`.
std::string inUnit(std::int64_t ns, Unit unit, int decimals) {
    const std::uint64_t magnitude = magnitudeOf(ns), size = static_cast<std::uint64_t>(unit.ns);
    std::uint64_t part = magnitude % size, scale = size;
    std::string text = fmt::format("{}{}", ns < 0 ? "-" : "", magnitude / size);
    if (decimals > 0) text += '.';
    for (int i = 0; i < decimals; ++i) {
        scale /= 10;
        text += static_cast<char>('0' + part / scale);
        part %= scale;
    }
    return fmt::format("{} {}", text, unit.name);
}

}  // namespace

base::Duration niceStep(double ns) {
    constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;
    for (std::int64_t ten = 1; ten < kLargest; ten *= 10)
        for (const std::int64_t factor : {1, 2, 5})
            if (static_cast<double>(factor * ten) >= ns) return {factor * ten};
    return {kLargest};
}

std::vector<Tick> rulerTicks(const Viewport& viewport, base::TraceTime zero, std::int32_t spacing) {
    const std::int64_t step = niceStep(viewport.nsPerPixel * std::max(spacing, 1)).ns;
    const base::Interval shown = visible(viewport);
    const std::int64_t first = (shown.begin - zero).ns, last = (shown.end - zero).ns;
    const Unit unit = unitOf(std::max(magnitudeOf(first), magnitudeOf(last)));
    const int decimals = decimalsOf(unit, step);
    // Rounded up to a multiple, whatever the sign.
    std::int64_t at = first - first % step;
    if (at < first) at += step;
    std::vector<Tick> ticks;
    for (; at < last; at += step) {
        const base::TraceTime time = zero + base::Duration{at};
        ticks.push_back({columnAt(viewport, time), time, inUnit(at, unit, decimals)});
    }
    return ticks;
}

std::string durationText(base::Duration duration) {
    const Unit unit = unitOf(magnitudeOf(duration.ns));
    std::string text = inUnit(duration.ns, unit, unit.ns == 1 ? 0 : 3);
    return text;
}

}  // namespace pleat::timeline
