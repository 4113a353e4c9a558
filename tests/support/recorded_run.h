// A made run as other programs' recorders write it down: with the errors of their timers, and as
// the text of their files. What is written is a run's tasks, phases and transfers; what happened
// stays in the run they were made from. Pure functions; the same arguments give the same text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/synthetic_run.h"

namespace pleat::testing {

struct TimerErrors {
    base::Duration noise;   // every begin and end is wrong by up to so much, either way
    bool digested = false;  // what several ranks do together begins when the last of them has begun
    std::uint32_t seed = 1;
};

// Every span moved, of tasks, phases, transfers and events; what one thread or stream did stays in
// its order and does not overlap.
[[nodiscard]] SyntheticRun withTimerErrors(SyntheticRun run, const TimerErrors& errors);

// ndtimeline's Chrome JSON: one file of all ranks. What comes before the first task is not data
// loading there but an all-gather of the parameters.
[[nodiscard]] std::string timerTimeline(const SyntheticRun& run);

struct ProfilerOptions {
    std::int32_t stepsAhead = 0;  // how many steps the host calls before the device has done them
    bool sideCopies = false;      // each step copies its data on a stream of its own when called
    bool copyInTask = false;      // the copy is called within the step's first task
};

// What the host of a rank did while the run went on.
struct HostStep {
    base::Interval span;  // its ProfilerStep range
    std::optional<base::Interval> copy;
    bool copyInTask = false;
};
[[nodiscard]] std::vector<std::vector<HostStep>> hostSteps(  // [rank][iteration]
    const SyntheticRun& run, const ProfilerOptions& options);

// Kineto's JSON, a file per rank: tasks are annotations on the host (PP:1F0) around the calls of
// their kernels; collectives carry their group and size but no number.
[[nodiscard]] std::vector<std::string> profilerFiles(
    const SyntheticRun& run, const std::vector<std::vector<HostStep>>& steps);

}  // namespace pleat::testing
