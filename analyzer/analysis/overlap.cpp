#include "analysis/overlap.h"

#include <map>
#include <utility>

#include "base/saturating.h"

namespace pleat::analysis {
namespace {

struct Collected {
    std::vector<base::Interval> moving, waiting;
    std::int64_t count = 0;
    std::int64_t bytes = 0;

    void add(const TransferPart& part) {
        moving.push_back(part.moving);
        waiting.push_back(part.waiting);
        if (!part.endsHere) return;
        ++count;
        bytes = base::saturatingSum(bytes, part.bytes);
    }

    [[nodiscard]] OverlapFigures figures(const base::IntervalSet& compute) const {
        const base::IntervalSet allMoving(moving);
        const base::IntervalSet exposed = allMoving - compute;
        OverlapFigures result;
        result.count = count;
        result.bytes = bytes;
        result.moving = exposed.total();
        result.hidden = allMoving.total() - result.moving;
        result.waiting = ((base::IntervalSet(waiting) - compute) - exposed).total();
        return result;
    }
};

template <class Row, class Key>
std::vector<Row> rowsOf(const std::map<Key, Collected>& collected,
                        const base::IntervalSet& compute) {
    std::vector<Row> rows;
    for (const auto& [key, parts] : collected) rows.push_back({key, parts.figures(compute)});
    return rows;
}

}  // namespace

std::optional<double> OverlapFigures::overlapFraction() const {
    const std::int64_t moved = hidden.ns + moving.ns;
    if (moved == 0) return std::nullopt;
    return static_cast<double>(hidden.ns) / static_cast<double>(moved);
}

OverlapFigures& OverlapFigures::operator+=(const OverlapFigures& other) {
    count += other.count;
    bytes = base::saturatingSum(bytes, other.bytes);
    hidden += other.hidden;
    moving += other.moving;
    waiting += other.waiting;
    return *this;
}

std::vector<TransferRow> transferOverlap(const RankActivity& activity,
                                         const base::IntervalSet& compute) {
    std::map<TransferKey, Collected> collected;
    for (const TransferPart& part : activity.transfers)
        collected[{part.dimension, part.operation}].add(part);
    return rowsOf<TransferRow>(collected, compute);
}

std::vector<GradientSyncRow> gradientSyncOverlap(const RankActivity& activity,
                                                 const base::IntervalSet& compute) {
    std::map<std::int32_t, Collected> collected;
    for (const TransferPart& part : activity.transfers) {
        if (part.gradientSync) collected[part.chunk].add(part);
    }
    return rowsOf<GradientSyncRow>(collected, compute);
}

}  // namespace pleat::analysis
