// Who alone makes the iteration slower: every suspect's work kept as it was recorded while all
// other work takes its ideal time, against an iteration that is ideal throughout. So slowdowns do
// not depend on how the slow ones hide each other. Definitions in docs/analysis.md; source: the
// what-if method of Lin et al., "Understanding Stragglers in Large Model Training Using What-if
// Analysis", 2025. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/replay_model.h"
#include "analysis/suspects.h"

namespace pleat::analysis {

// Below it nothing stands out.
inline constexpr double kLeastSlowdown = 0.01;
// Of each kind only so many suspects are replayed, those whose work exceeds the ideal most.
inline constexpr std::size_t kMostSuspectsOfAKind = 32;

struct Straggler {
    Suspect suspect;
    std::int32_t rank = -1;   // of a rank; -1 for what is no single rank
    std::int32_t stage = -1;  // of a stage, or the only one of a rank; else -1
    double slowdown = 1;      // mean iteration with only this as recorded / all ideal

    // Of its operations the one that exceeds its ideal most, as its suspect name.
    std::string operation;
    double timesIdeal = 1;    // its time over its ideal time
    double slowestTenth = 1;  // nine of ten take at most so many times the ideal
    double slowest = 1;
};

// Of links, ranks, stages, microbatches and operations those with a slowdown of at least 1 +
// kLeastSlowdown, the worst first, of equals the narrower. O(iterations x suspects x (nodes +
// edges)).
[[nodiscard]] std::vector<Straggler> findStragglers(const ReplayModel& model);

}  // namespace pleat::analysis
