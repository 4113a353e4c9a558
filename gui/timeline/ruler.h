// The time ruler: where its ticks stand and what is written at them. Steps are 1, 2 or 5 times a
// power of ten nanoseconds; all ticks of one ruler are written in one unit, with as many digits as
// the step needs, so that neighbours never read the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/viewport.h"

namespace pleat::timeline {

struct Tick {
    std::int32_t x = 0;  // pixels from the left edge
    base::TraceTime time;
    std::string label;  // "12.5 ms"
};

// The smallest step of 1, 2 or 5 x 10^n ns that is at least `ns` long.
[[nodiscard]] base::Duration niceStep(double ns);
// Ticks within the viewport, at least `spacing` pixels apart; labels count from `zero`.
[[nodiscard]] std::vector<Tick> rulerTicks(const Viewport& viewport, base::TraceTime zero,
                                           std::int32_t spacing);
// A length of time for a person: "1.234 ms", with at most three decimals.
[[nodiscard]] std::string durationText(base::Duration duration);

}  // namespace pleat::timeline
