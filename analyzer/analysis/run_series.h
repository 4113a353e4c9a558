// A run as series of figures, one value per iteration: what two runs are compared by. From the
// iteration as a whole down to single kernels. Everything that depends on how many ranks there are
// is a mean over the ranks, so that runs of different size compare. Definitions in
// docs/analysis.md. A pure function; the result is immutable and much smaller than the trace.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/iterations.h"
#include "analysis/run_analysis.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::analysis {

enum class Level : std::uint8_t {
    Iteration,
    Accounting,   // parts of the iteration, mean of all ranks
    BubbleCause,  // parts of its bubble, the same
    Rank,         // parts of the iteration on one rank
    Stage,        // a task of the stage, by action kind
    Microbatch,   // a task of the microbatch, by action kind
    Transfer,     // by dimension and operation, mean of all ranks
    Kernel,       // device work by name, mean of all ranks
};
inline constexpr std::size_t kLevelCount = 8;

// iteration accounting bubble_cause rank stage microbatch transfer kernel
[[nodiscard]] std::string_view toString(Level level);

enum class Unit : std::uint8_t { Nanoseconds, Count, Fraction };

// Orders by level, then number, then text.
struct SeriesKey {
    Level level = Level::Iteration;
    std::int32_t number = -1;  // of the rank, stage, microbatch, cause; -1: named by text alone
    std::string subject;       // "all ranks", "rank 3", "stage 2", "dp all_reduce", a kernel
    std::string quantity;      // "compute", "F", "moving", "overlap", "count", "time"
    friend auto operator<=>(const SeriesKey&, const SeriesKey&) = default;
};

struct Series {
    Unit unit = Unit::Nanoseconds;
    bool isCost = true;  // the less the better
    // By iteration. Sums of an iteration are 0 where nothing happened; of a mean or a fraction only
    // the iterations that have one are there.
    std::vector<double> values;
};

struct RunSeries {
    IterationStatistics iterations;
    std::optional<trace::RecognisedSchedule> schedule;
    std::vector<trace::Rank> ranks;  // that took part, by number
    RankSummary mean;                // of all ranks and iterations: the parts sum to the iteration
    std::map<SeriesKey, Series> series;
    base::Diagnostics diagnostics;  // the trace's and the analysis' own

    [[nodiscard]] bool has(Level level) const;
};

// `trace` is annotated. Usage error for an iteration range that was not recorded; Input error
// without a complete iteration or if times are damaged. O(n log n) in tasks, transfers and device
// work, times the replays that find the causes of bubbles.
[[nodiscard]] base::Result<RunSeries> seriesOf(const graph::RunIndex& run,
                                               const AnalysisOptions& options);

}  // namespace pleat::analysis
