// Iterations of plainly read ranks, and how long each rank computed and communicated in them: sums
// of merged intervals, nothing else. Pure.
#pragma once

#include <map>
#include <vector>

#include "unit/analyzer/intervals/plain_reading.h"

namespace pleat::testing {

// Of devices: an iteration begins when the stream with most of the compute has done what was called
// before the host's range of it began, but not before that, nor after the first work called within
// on that stream. It ends where the next begins, the last with the last kernel called within.
// Without ranges all work is one. Of several ranks from the first to begin to the last to end.
[[nodiscard]] std::vector<PlainSpan> iterationsOf(const std::vector<PlainRank>& ranks);

struct PlainSums {
    double iteration = 0;      // ns, means over iterations …
    double compute = 0;        // … and ranks
    double communication = 0;  // moving data or, in a collective, waiting for its last member
    double exposed = 0;        // the same, not under compute
};

[[nodiscard]] PlainSums sumsOf(const std::vector<PlainRank>& ranks,
                               const std::vector<PlainSpan>& iterations);

}  // namespace pleat::testing
