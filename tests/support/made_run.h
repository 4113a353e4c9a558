// Runs drawn at random with something wrong put into them, for judging what the analyzer answers:
// a schedule on a number of ranks, one injected cause (or none), and how the run was recorded. The
// truth is known from the walk (synthetic_run.h): what each rank did, and who was to blame. Pure;
// the same number gives the same run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/recorded_run.h"
#include "support/synthetic_run.h"

namespace pleat::testing {

enum class Cause : std::uint8_t {
    None,
    SlowRank,        // all its tasks take longer
    SlowStage,       // the same on every rank of the stage
    SlowReplica,     // the same on every rank of a data-parallel replica
    SlowMicrobatch,  // its tasks take longer on every rank
    SlowLink,        // messages between two ranks
    LateData,        // one rank's data loading
    LongSync,        // the gradient sync of one stage
    Pauses,          // a rank stops before its tasks, which nothing records
};
inline constexpr int kCauses = 9;

enum class Recorder : std::uint8_t { Markers, Timers, Profiler };
inline constexpr int kRecorders = 3;

enum class Feature : std::uint8_t {
    None,
    Digested,           // of timers: what ranks do together begins with its last member
    Blocking,           // of markers: messages run on the compute thread
    WaitsInTasks,       // of the profiler: tensor-parallel collectives within tasks
    SyncInTasks,        // of the profiler: the gradient sync within the last backward
    MissingCollective,  // one member's record of one collective is lost
    SideCopies,         // of the profiler: copies on a stream of their own
    RunAhead,           // of the profiler: the host calls several steps ahead, with such copies
};
inline constexpr int kFeatures = 8;

[[nodiscard]] std::string_view toString(Cause cause);
[[nodiscard]] std::string_view toString(Recorder recorder);
[[nodiscard]] std::string_view toString(Feature feature);

// Means per iteration; they sum to the iteration.
struct TrueAccount {
    std::int64_t compute_ns = 0, moving_ns = 0, copy_ns = 0, waiting_ns = 0, bubble_ns = 0;
    std::int64_t parts = 0;  // tasks, phases and transfers: whose ends timers get wrong
};

struct MadeRun {
    std::int32_t number = 0;
    Recorder recorder = Recorder::Markers;
    Feature feature = Feature::None;
    Cause cause = Cause::None;
    base::Duration noise;
    // Where the cause is: what is not part of it is -1.
    std::int32_t rank = -1, stage = -1, replica = -1, microbatch = -1, peer = -1;
    double slowdown = 1;  // of the iterations, by the cause alone
    SyntheticOptions options;
    SyntheticRun happened, recorded;
    std::vector<std::vector<HostStep>> host;  // of the profiler
    base::Duration iteration;                 // mean
    std::vector<TrueAccount> accounts;        // [rank]
    base::Duration lost;                      // the longest part of the collective that lacks one

    [[nodiscard]] std::string describe() const;  // all that is needed to see what was put in
};

[[nodiscard]] MadeRun madeRun(std::int32_t number);

}  // namespace pleat::testing
