#include "analysis/accounting.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pleat::analysis {

Partition partition(const RankActivity& activity) {
    std::vector<base::Interval> moving, waiting;
    for (const TransferPart& part : activity.transfers) {
        moving.push_back(part.moving);
        if (part.isCollective()) waiting.push_back(part.waiting);
    }
    const base::IntervalSet allMoving(std::move(moving));
    Partition parts;
    parts.compute = base::IntervalSet(activity.compute);
    parts.hidden = allMoving & parts.compute;
    parts.moving = allMoving - parts.compute;
    parts.copy = base::IntervalSet(activity.copies) - (parts.compute | parts.moving);
    const base::IntervalSet working = parts.compute | parts.moving | parts.copy;
    parts.waiting = base::IntervalSet(std::move(waiting)) - working;
    parts.bubble = base::IntervalSet(activity.window) - (working | parts.waiting);
    return parts;
}

const base::IntervalSet& Partition::operator[](TimePart part) const {
    switch (part) {
        case TimePart::Compute:
            return compute;
        case TimePart::Moving:
            return moving;
        case TimePart::Waiting:
            return waiting;
        case TimePart::Copy:
            return copy;
        case TimePart::Bubble:
            break;
    }
    return bubble;
}

TimeParts Partition::lengths() const {
    TimeParts lengths;
    for (const TimePart part : kTimeParts) lengths[part] = (*this)[part].total();
    return lengths;
}

TimeParts Partition::lengthsWithin(const base::IntervalSet& set) const {
    TimeParts lengths;
    for (const TimePart part : kTimeParts) lengths[part] = ((*this)[part] & set).total();
    return lengths;
}

std::vector<Wait> waitsOf(const RankActivity& activity, const Partition& partition) {
    std::vector<const TransferPart*> collectives;
    for (const TransferPart& part : activity.transfers) {
        if (part.isCollective() && !part.waiting.empty()) collectives.push_back(&part);
    }
    std::stable_sort(collectives.begin(), collectives.end(),
                     [](const TransferPart* a, const TransferPart* b) {
                         return a->waiting.begin < b->waiting.begin;
                     });
    std::map<std::pair<trace::RankId, trace::Dimension>, base::Duration> sums;
    const auto exposed = partition.waiting.intervals();
    std::size_t next = 0;
    base::TraceTime reached = activity.window.begin;
    for (const TransferPart* part : collectives) {
        const base::Interval own{std::max(part->waiting.begin, reached), part->waiting.end};
        if (own.empty()) continue;
        reached = own.end;
        base::Duration& sum = sums[{part->lateRank, part->dimension}];
        while (next < exposed.size() && exposed[next].end <= own.begin) ++next;
        for (std::size_t i = next; i < exposed.size() && exposed[i].begin < own.end; ++i)
            sum += intersect(exposed[i], own).length();
    }
    std::vector<Wait> waits;
    for (const auto& [key, duration] : sums) {
        if (duration.ns > 0) waits.push_back({key.first, key.second, duration});
    }
    return waits;
}

}  // namespace pleat::analysis
