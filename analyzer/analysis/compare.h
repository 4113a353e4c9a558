// Two runs side by side, what `pleat diff` renders: for every series that both have, the medians,
// their difference with a bootstrap interval, and a verdict; what only one of them has is there
// too. And the mean iteration of both cut into parts whose differences sum to that of the whole,
// which medians do not. Definitions in docs/analysis.md. A pure function; compareRuns(a, b) is
// compareRuns(b, a) with every difference negated. Results are immutable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/run_series.h"
#include "base/diagnostics.h"

namespace pleat::analysis {

// A change up to here matters to nobody: of the larger median; of a time that is part of the
// iteration, at least so much of the longer median iteration; of a fraction, so much itself.
inline constexpr double kSameShare = 0.01;
inline constexpr double kSameShareOfIteration = 0.001;
inline constexpr double kSameFraction = 0.01;
// Four values on each side are the fewest that a rank test could tell apart at 5 %; one more, for a
// resampled interval of few values is too narrow. Fewer tell something only where all of a run is
// equal to the other: the same run given twice.
inline constexpr std::size_t kFewestValues = 5;

enum class Verdict : std::uint8_t {
    Faster,      // the interval excludes zero: less of what costs
    Slower,      // more of it
    Less,        // the same of what is neither good nor bad by itself
    More,        //
    Same,        // the whole interval is too small to matter
    CannotTell,  // the interval includes zero and more than that, or there are too few values
    OnlyInBase,
    OnlyInNew,
};
inline constexpr std::size_t kVerdictCount = 8;

// faster slower less more same cannot_tell only_in_base only_in_new
[[nodiscard]] std::string_view toString(Verdict verdict);
[[nodiscard]] bool isChange(Verdict verdict);  // Faster, Slower, Less, More

// Times are whole nanoseconds, interval ends rounded away from each other.
struct ComparedSeries {
    SeriesKey key;
    Unit unit = Unit::Nanoseconds;
    std::size_t baseCount = 0, otherCount = 0;      // iterations with a value
    std::optional<double> base, other;              // medians
    std::optional<double> difference;               // other - base
    std::optional<double> ratio;                    // other / base; none where base is 0
    std::optional<std::pair<double, double>> ci95;  // of the difference; none for too few values
    Verdict verdict = Verdict::CannotTell;
};

struct MeanPart {
    std::string name;       // compute, moving, waiting, copy, or a cause of bubbles
    bool ofBubble = false;  // a cause
    base::Duration base, other;

    [[nodiscard]] base::Duration difference() const { return other - base; }
};

struct RunSummary {
    IterationStatistics iterations;
    std::optional<trace::RecognisedSchedule> schedule;
    std::size_t ranks = 0;
    base::Diagnostics diagnostics;
};

struct Comparison {
    RunSummary base, other;
    ComparedSeries iteration;            // rows.front(), which every run has
    MeanPart mean;                       // of the iteration
    std::vector<MeanPart> parts;         // sum to it, and so do their differences
    std::vector<std::size_t> reasons;    // of parts: what explains 80 % of the way the mean went,
                                         // the most first, at most three; none where parts are not
                                         // of one kind in both
    std::optional<std::size_t> against;  // of parts: what went most the other way, where that is
                                         // as much as the mean's difference
    std::optional<std::size_t> mostChanged;  // of rows: the stage, else the kernel, that changed
                                             // most the way the iteration did
    std::vector<ComparedSeries> rows;  // by level; within it times first, the most changed first
    std::array<std::size_t, kVerdictCount> count{};  // of rows, by Verdict
    base::Diagnostics diagnostics;                   // why the two may not compare

    [[nodiscard]] std::size_t of(Verdict verdict) const {
        return count[static_cast<std::size_t>(verdict)];
    }
    [[nodiscard]] std::size_t changed() const;
    [[nodiscard]] std::size_t inBoth() const;  // rows that both runs have
    // How many of the rows whose interval has a width change by chance alone, as expected: 5 %,
    // rounded up.
    [[nodiscard]] std::size_t byChance() const;
    [[nodiscard]] bool identical() const;  // not a nanosecond and no row differs
};

[[nodiscard]] Comparison compareRuns(const RunSeries& base, const RunSeries& other);

}  // namespace pleat::analysis
