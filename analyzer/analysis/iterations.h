// Which iterations an analysis speaks of, and how long they took. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/time.h"
#include "graph/run_index.h"

namespace pleat::analysis {

// Iterations first … last, both included.
struct IterationRange {
    std::int32_t first = 0;
    std::int32_t last = 0;
};

// The complete windows within any of `ranges` (all, when none is given). Incomplete ones are left
// out and counted as "iteration_incomplete". Usage error when a range holds no recorded iteration.
[[nodiscard]] base::Result<std::vector<graph::IterationWindow>> selectIterations(
    std::span<const graph::IterationWindow> windows, std::span<const IterationRange> ranges,
    base::Diagnostics& diagnostics);

// Analyses add times up, in 64 bits. Error where the trace's do not allow it: tasks that last for
// centuries, which are damage.
[[nodiscard]] base::Result<void> checkTimes(const graph::RunIndex& run,
                                            std::span<const graph::IterationWindow> windows);

// The iteration asked for, else the complete one closest to the median. Input error where there is
// none; Usage error naming the iterations there are for one that was not recorded.
[[nodiscard]] base::Result<graph::IterationWindow> chooseIteration(
    const graph::RunIndex& run, std::optional<std::int32_t> iteration);

struct IterationStatistics {
    std::vector<std::int32_t> indices;
    base::Duration median;  // of an even number: the mean of the two in the middle
    base::Duration p90;     // nearest rank
    base::Duration mean;
    // How many of the first took more than 1.5 times the median each, if fewer than half of all:
    // the run was still warming up. Their mean over the median beside it.
    std::size_t warmUp = 0;
    double warmUpRatio = 0;
    // meanInterval (bootstrap.h) of their lengths.
    std::optional<std::pair<base::Duration, base::Duration>> ci95;
};

[[nodiscard]] IterationStatistics iterationStatistics(
    std::span<const graph::IterationWindow> windows);

}  // namespace pleat::analysis
