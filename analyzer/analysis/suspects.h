// What can be slower than the rest, and what can be changed in thought: a rank, a stage, a
// microbatch, a link, an operation, or more of them at once. Their names are the keys of the
// command line (`stage:2`, docs/command_line.md). Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/replay_model.h"
#include "base/result.h"

namespace pleat::analysis {

// The narrower first.
enum class SuspectKind : std::uint8_t {
    Link,        // messages between two ranks
    Rank,        // all of a rank
    Stage,       // all of a stage
    DpRank,      // every rank with this data-parallel coordinate
    Microbatch,  // its tasks and messages everywhere
    Operation,   // by name
    Everything,
};
inline constexpr std::size_t kSuspectKindCount = 7;

struct Suspect {
    SuspectKind kind = SuspectKind::Everything;
    std::int32_t number = -1;  // of a rank, stage, …; the lower rank of a link
    std::int32_t other = -1;   // the higher rank of a link
    std::string name;          // of an operation
};

// link:0-1 rank:5 stage:2 dp:1 microbatch:3 all; an operation's name.
[[nodiscard]] std::string toString(const Suspect& suspect);

// All there are in this run: narrower kinds first, in each kind by number or name. Operations under
// every name that selects them.
[[nodiscard]] std::vector<Suspect> suspectsIn(const ReplayModel& model);

// Usage error naming the nearest there is when the run has none of this name.
[[nodiscard]] base::Result<Suspect> parseSuspect(std::string_view text,
                                                 const std::vector<Suspect>& known);

// Whether a node is part of it. Never asked for a Ready node.
using Covers = std::function<bool(const ReplayIteration&, std::size_t node)>;
[[nodiscard]] Covers coverage(const ReplayModel& model, const Suspect& suspect);

// Durations `inside` for what it covers and `outside` for the rest.
[[nodiscard]] DurationOf choose(Covers covers, DurationOf inside, DurationOf outside);

}  // namespace pleat::analysis
