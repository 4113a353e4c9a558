// Many ranks in a few rows: the slowest, the fastest, the middle one, and what stands out by
// replica and by pipeline rank. What a text shows where a row for every rank would bury the answer.
// A rank is slow by how long it computes: the others wait for it. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/run_analysis.h"

namespace pleat::analysis {

// From so many ranks on a text shows the shape.
inline constexpr std::size_t kManyRanks = 64;

struct RankOutlier {
    std::size_t index = 0;  // among the ranks
    double ratio = 1;       // its compute over the median of its pipeline rank's
};

// The ranks of one dp or pp coordinate.
struct RankGroup {
    std::int32_t coordinate = -1;
    std::size_t ranks = 0;
    RankSummary mean;        // durations only
    double ratio = 1;        // mean compute over the median of the groups'
    bool standsOut = false;  // by more than kStandsOut, and than four times the usual deviation
};

struct RankShape {
    std::size_t slowest = 0, fastest = 0, median = 0;  // among the ranks
    std::vector<RankOutlier> outliers;                 // furthest from 1 first
    std::vector<RankGroup> byDp, byPp;  // by coordinate; empty where fewer than two are known
};

inline constexpr double kStandsOut = 0.05;

// Of at least one rank. O(n log n).
[[nodiscard]] RankShape shapeOf(std::span<const RankSummary> ranks);

}  // namespace pleat::analysis
