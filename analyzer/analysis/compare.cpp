#include "analysis/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/bootstrap.h"
#include "base/statistics.h"

namespace pleat::analysis {
namespace {

// Tasks stand for themselves; the other times are parts of an iteration.
bool isPartOfIteration(const SeriesKey& key) {
    return key.level != Level::Stage && key.level != Level::Microbatch;
}

double medianOfSeries(std::vector<double> values, Unit unit) {
    const double median = base::medianOf(values);
    return unit == Unit::Nanoseconds ? std::floor(median) : median;
}

class Comparer {
  public:
    Comparer(double iteration, bool isSameRun) : m_iteration(iteration), m_isSameRun(isSameRun) {}

    ComparedSeries compare(const SeriesKey& key, const Series& base, const Series& other) {
        ComparedSeries row = oneSided(key, base, Verdict::CannotTell);
        row.otherCount = other.values.size();
        row.other = medianOfSeries(other.values, other.unit);
        row.difference = *row.other - *row.base;
        if (*row.base != 0) row.ratio = *row.other / *row.base;
        const bool few = std::min(row.baseCount, row.otherCount) < kFewestValues;
        if (few && !m_isSameRun) return row;
        const auto [low, high] = m_resamples.interval(base.values, other.values);
        row.verdict = judge(row, base.isCost, low, high);
        const bool whole = row.unit == Unit::Nanoseconds;
        row.ci95 = whole ? std::pair(std::floor(low), std::ceil(high)) : std::pair(low, high);
        return row;
    }

    // What the other run has nothing of.
    static ComparedSeries oneSided(const SeriesKey& key, const Series& series, Verdict verdict) {
        ComparedSeries row;
        row.key = key;
        row.unit = series.unit;
        row.verdict = verdict;
        const double median = medianOfSeries(series.values, series.unit);
        const bool inNew = verdict == Verdict::OnlyInNew;
        (inNew ? row.other : row.base) = median;
        (inNew ? row.otherCount : row.baseCount) = series.values.size();
        return row;
    }

  private:
    [[nodiscard]] double margin(const ComparedSeries& row) const {
        if (row.unit == Unit::Fraction) return kSameFraction;
        const double own = kSameShare * std::max(*row.base, *row.other);
        if (row.unit == Unit::Count || !isPartOfIteration(row.key)) return own;
        return std::max(own, kSameShareOfIteration * m_iteration);
    }

    [[nodiscard]] Verdict judge(const ComparedSeries& row, bool isCost, double low,
                                double high) const {
        const double same = margin(row);
        if (-same <= low && high <= same) return Verdict::Same;
        if (low <= 0 && 0 <= high) return Verdict::CannotTell;
        if (isCost) return low > 0 ? Verdict::Slower : Verdict::Faster;
        return low > 0 ? Verdict::More : Verdict::Less;
    }

    double m_iteration;  // the longer of the two medians
    bool m_isSameRun;
    MedianDifference m_resamples;
};

// Within a level times first, then what changed most; last what one side has, by number, else the
// most of it first.
bool standsBefore(const ComparedSeries& a, const ComparedSeries& b) {
    const auto rank = [](const ComparedSeries& row) {
        const bool inBoth = row.difference.has_value();
        const double size = inBoth ? std::abs(*row.difference)
                                   : std::max(row.base.value_or(0), row.other.value_or(0));
        return std::tuple(row.key.level, !inBoth, row.unit, inBoth ? 0 : row.key.number, -size);
    };
    return std::pair(rank(a), a.key) < std::pair(rank(b), b.key);
}

bool isSameRun(const RunSeries& base, const RunSeries& other) {
    return std::equal(base.series.begin(), base.series.end(), other.series.begin(),
                      other.series.end(), [](const auto& a, const auto& b) {
                          return a.first == b.first && a.second.values == b.second.values;
                      });
}

std::vector<ComparedSeries> compareSeries(const RunSeries& base, const RunSeries& other) {
    const auto iteration = std::max(base.iterations.median, other.iterations.median);
    Comparer comparer(static_cast<double>(iteration.ns), isSameRun(base, other));
    std::vector<ComparedSeries> rows;
    for (const auto& [key, series] : base.series) {
        const auto partner = other.series.find(key);
        rows.push_back(partner == other.series.end()
                           ? Comparer::oneSided(key, series, Verdict::OnlyInBase)
                           : comparer.compare(key, series, partner->second));
    }
    for (const auto& [key, series] : other.series) {
        if (!base.series.contains(key))
            rows.push_back(Comparer::oneSided(key, series, Verdict::OnlyInNew));
    }
    std::sort(rows.begin(), rows.end(), standsBefore);
    return rows;
}

std::vector<MeanPart> meanParts(const RankSummary& base, const RankSummary& other) {
    std::vector<MeanPart> parts;
    for (const TimePart part : kTimeParts) {
        if (part != TimePart::Bubble)
            parts.push_back(
                {std::string(toString(part)), false, base.time[part], other.time[part]});
    }
    for (const BubbleCause cause : kBubbleCauses)
        parts.push_back({std::string(toString(cause)), true, base.time[cause], other.time[cause]});
    return parts;
}

std::optional<std::size_t> againstOf(const Comparison& comparison) {
    const std::int64_t whole_ns = comparison.mean.difference().ns;
    std::optional<std::size_t> most;
    std::int64_t least_ns = std::abs(whole_ns);
    for (std::size_t part = 0; part < comparison.parts.size() && whole_ns != 0; ++part) {
        const std::int64_t ns = comparison.parts[part].difference().ns;
        if ((ns > 0) == (whole_ns > 0) || std::abs(ns) < least_ns || ns == 0) continue;
        least_ns = std::abs(ns);
        most = part;
    }
    return most;
}

std::vector<std::size_t> reasonsOf(const Comparison& comparison) {
    if (comparison.mean.difference().ns == 0) return {};
    constexpr std::size_t kMostReasons = 3;
    constexpr double kEnough = 0.8;
    const bool longer = comparison.mean.difference() > base::Duration{};
    // Positive where a part went the way of the whole.
    const auto along = [&](std::size_t part) {
        const std::int64_t ns = comparison.parts[part].difference().ns;
        return longer ? ns : -ns;
    };
    std::vector<std::size_t> order(comparison.parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return along(a) > along(b); });
    double all = 0;
    for (const std::size_t part : order)
        all += static_cast<double>(std::max<std::int64_t>(along(part), 0));
    std::vector<std::size_t> reasons;
    double explained = 0;
    for (const std::size_t part : order) {
        if (along(part) <= 0 || explained >= kEnough * all || reasons.size() == kMostReasons) break;
        explained += static_cast<double>(along(part));
        reasons.push_back(part);
    }
    return reasons;
}

// Stages by how many times longer, for each has its own usual; kernels by time, for all are parts
// of one iteration and so are sorted already.
std::optional<std::size_t> mostChanged(const Comparison& comparison) {
    const auto& rows = comparison.rows;
    const Verdict wanted = comparison.iteration.verdict;
    if (wanted != Verdict::Faster && wanted != Verdict::Slower) return std::nullopt;
    std::optional<std::size_t> stage, kernel;
    const auto change = [&](std::size_t i) { return std::abs(rows[i].ratio.value_or(1) - 1); };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].verdict != wanted) continue;
        if (rows[i].key.level == Level::Stage && (!stage || change(i) > change(*stage))) stage = i;
        if (rows[i].key.level == Level::Kernel && !kernel) kernel = i;
    }
    return stage ? stage : kernel;
}

std::map<std::int32_t, trace::Coordinates> layoutOf(const RunSeries& run) {
    std::map<std::int32_t, trace::Coordinates> layout;
    for (const trace::Rank& rank : run.ranks) layout[rank.number] = rank.coordinates;
    return layout;
}

std::string wordsOf(const std::optional<trace::RecognisedSchedule>& schedule) {
    if (!schedule) return "none";
    return fmt::format("{} of {} x {} stages, {} microbatches", trace::scheduleTitle(*schedule),
                       schedule->ranks, schedule->chunks, schedule->microbatches);
}

base::Diagnostics doubtsOf(const RunSeries& base, const RunSeries& other) {
    base::Diagnostics doubts;
    if (layoutOf(base) != layoutOf(other)) {
        doubts.add("layout_differs",
                   fmt::format("BASE has {} ranks and NEW {}, or their numbers or positions in the "
                               "layout differ; figures of all ranks are means per rank, and single "
                               "ranks are compared by number only",
                               base.ranks.size(), other.ranks.size()));
    }
    if (base.schedule.has_value() != other.schedule.has_value()) {
        doubts.add("tasks_in_one_only",
                   fmt::format("only {} names pipeline tasks, so stages, microbatches and causes "
                               "of bubbles cannot be compared",
                               base.schedule ? "BASE" : "NEW"));
    } else if (wordsOf(base.schedule) != wordsOf(other.schedule)) {
        doubts.add("schedule_differs",
                   fmt::format("BASE ran {}, NEW {}; tasks are compared by stage and microbatch, "
                               "which may contain different work",
                               wordsOf(base.schedule), wordsOf(other.schedule)));
    } else if (!base.schedule) {
        doubts.add("no_tasks",
                   "neither run names pipeline tasks, so stages and microbatches are not compared");
    }
    if (base.has(Level::Kernel) != other.has(Level::Kernel)) {
        doubts.add(
            "devices_in_one_only",
            fmt::format("only {} has recorded device work, so its compute is the time of kernels "
                        "and that of the other is the time of tasks; the two are not comparable",
                        base.has(Level::Kernel) ? "BASE" : "NEW"));
    }
    return doubts;
}

RunSummary summaryOf(const RunSeries& run) {
    return {run.iterations, run.schedule, run.ranks.size(), run.diagnostics};
}

}  // namespace

std::string_view toString(Verdict verdict) {
    static constexpr std::array<std::string_view, kVerdictCount> kNames = {
        "faster", "slower", "less", "more", "same", "cannot_tell", "only_in_base", "only_in_new"};
    return kNames[static_cast<std::size_t>(verdict)];
}

bool isChange(Verdict verdict) {
    return verdict == Verdict::Faster || verdict == Verdict::Slower || verdict == Verdict::Less ||
           verdict == Verdict::More;
}

std::size_t Comparison::changed() const {
    return of(Verdict::Faster) + of(Verdict::Slower) + of(Verdict::Less) + of(Verdict::More);
}

std::size_t Comparison::inBoth() const {
    return changed() + of(Verdict::Same) + of(Verdict::CannotTell);
}

std::size_t Comparison::byChance() const {
    const auto resampled = std::count_if(rows.begin(), rows.end(), [](const ComparedSeries& row) {
        return row.ci95 && row.ci95->first < row.ci95->second;
    });
    return (static_cast<std::size_t>(resampled) + 19) / 20;
}

bool Comparison::identical() const {
    const auto same = [](const ComparedSeries& row) {
        return row.difference && *row.difference == 0 &&
               (!row.ci95 || (row.ci95->first == 0 && row.ci95->second == 0)) &&
               row.baseCount == row.otherCount;
    };
    return std::all_of(rows.begin(), rows.end(), same) &&
           std::all_of(parts.begin(), parts.end(),
                       [](const MeanPart& part) { return part.difference().ns == 0; });
}

Comparison compareRuns(const RunSeries& base, const RunSeries& other) {
    Comparison comparison;
    comparison.base = summaryOf(base);
    comparison.other = summaryOf(other);
    comparison.rows = compareSeries(base, other);
    comparison.iteration = comparison.rows.front();
    for (const ComparedSeries& row : comparison.rows)
        ++comparison.count[static_cast<std::size_t>(row.verdict)];
    comparison.mean = {"iteration", false, base.mean.time.total(), other.mean.time.total()};
    comparison.parts = meanParts(base.mean, other.mean);
    comparison.diagnostics = doubtsOf(base, other);
    if (comparison.diagnostics.find("devices_in_one_only") == nullptr) {
        comparison.reasons = reasonsOf(comparison);
        comparison.against = againstOf(comparison);
    }
    comparison.mostChanged = mostChanged(comparison);
    return comparison;
}

}  // namespace pleat::analysis
