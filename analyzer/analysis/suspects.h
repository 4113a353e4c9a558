// What can be slower than the rest, and what can be changed in thought: the pauses of a rank, a
// link, a rank, a stage, a replica, a microbatch, an operation, or several at once. Their names are
// the keys of the command line (`stage:2`, docs/command_line.md). Pure functions.
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
    Pause,       // what passes on a rank (on all) before its work although nothing holds it up
    Link,        // messages between two ranks
    Rank,        // all of a rank
    Stage,       // all of a stage
    DpRank,      // every rank with this data-parallel coordinate
    Microbatch,  // its tasks and messages everywhere
    Operation,   // by name
    Everything,
};
inline constexpr std::size_t kSuspectKindCount = 8;

struct Suspect {
    SuspectKind kind = SuspectKind::Everything;
    std::int32_t number = -1;  // of a rank, stage, …; the lower rank of a link; -1: of all
    std::int32_t other = -1;   // the higher rank of a link
    std::string name;          // of an operation; of one of several devices of a rank's process
};

// pause:3 pause link:0-1 rank:5 rank:0/cuda:2 stage:2 dp:1 microbatch:3 all; an operation's name.
[[nodiscard]] std::string toString(const Suspect& suspect);

// All there are in this run: narrower kinds first, in each kind by number or name. Operations under
// every name that selects them.
[[nodiscard]] std::vector<Suspect> suspectsIn(const ReplayModel& model);

// Usage error naming the nearest there is when the run has none of this name.
[[nodiscard]] base::Result<Suspect> parseSuspect(std::string_view text,
                                                 const std::vector<Suspect>& known);

// Whether a suspect that is a rank, or its pauses, is this one.
[[nodiscard]] bool isRank(const ReplayRank& rank, const Suspect& suspect);

// What a suspect is made of: the durations of some nodes, the pauses before some nodes. `work` is
// never asked for a Ready node.
using Covers = std::function<bool(const ReplayIteration&, std::size_t node)>;
struct Coverage {
    Covers work, pauses;
};
[[nodiscard]] Coverage coverage(const ReplayModel& model, const Suspect& suspect);

// Times `inside` for what it covers and `outside` for the rest.
[[nodiscard]] TimeOf choose(Coverage covers, TimeOf inside, TimeOf outside);
// Of durations alone; pauses are those of `outside`.
[[nodiscard]] TimeOf choose(Covers work, TimeOf inside, TimeOf outside);

}  // namespace pleat::analysis
