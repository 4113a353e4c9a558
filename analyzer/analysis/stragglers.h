// Who alone makes the iteration slower: every suspect's work kept as it was recorded while all
// other work takes its ideal time, against an iteration that is ideal throughout. So slowdowns do
// not depend on how the slow ones hide each other. Definitions in docs/analysis.md; source: the
// what-if method of Lin et al., "Understanding Stragglers in Large Model Training Using What-if
// Analysis", 2025. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/replay_model.h"
#include "analysis/suspects.h"

namespace pleat::analysis {

// Below it nothing stands out.
inline constexpr double kLeastSlowdown = 0.01;
// The same of what is mostly pauses: dependencies that nothing recorded look like small ones.
inline constexpr double kLeastPauseSlowdown = 0.03;
// Noise makes everything a little slower than the usual, and the end of no part of it would save
// anything: what gains less than kLeastSlowdown has to cost so much more alone.
inline constexpr double kLeastWithoutGain = 0.03;
// Of each kind only so many suspects are replayed, those whose work exceeds the ideal most.
inline constexpr std::size_t kMostSuspectsOfAKind = 32;

struct Straggler {
    Suspect suspect;
    std::int32_t rank = -1;   // of a rank or its pauses; -1 for what is no single rank
    std::int32_t stage = -1;  // of a stage, or the only one of a rank; else -1
    // Mean iteration with only this as recorded / all ideal, from its begin to its last work.
    double slowdown = 1;
    base::Duration gain;  // what the mean iteration would be shorter by if it were ideal and all
                          // else as recorded: pleat whatif --ideal KEY

    // Of its operations the one that exceeds its ideal most, as its suspect name; "pause".
    std::string operation;
    base::Duration excess;    // above its ideal time, mean of an iteration
    double timesIdeal = 1;    // its time over its ideal time; 0 where the ideal is no time
    double slowestTenth = 1;  // nine of ten take at most so many times the ideal
    double slowest = 1;
};

// How many suspects of a kind there were to compare.
struct ComparedKind {
    SuspectKind kind = SuspectKind::Everything;
    std::size_t count = 0;
};

// What a search for stragglers looked at: "none" is an answer only where there was something.
struct StragglerSearch {
    std::vector<ComparedKind> compared;  // the narrower kinds first
    std::string missing;                 // why nothing was compared; else empty
};

// Of pauses, links, ranks, stages, replicas, microbatches and operations those with a slowdown of
// at least 1 + kLeastSlowdown, the worst first; but before a wider suspect comes the narrower one
// that explains it. O(iterations x suspects x (nodes + edges)).
[[nodiscard]] std::vector<Straggler> findStragglers(const ReplayModel& model);

[[nodiscard]] StragglerSearch searchOf(const ReplayModel& model);

// pauses, links, ranks, …
[[nodiscard]] std::string_view pluralOf(SuspectKind kind);

}  // namespace pleat::analysis
