// Accounting: where a rank's time went in an iteration window, as a partition that sums to the
// window exactly. Definitions in docs/analysis.md. Pure functions.
#pragma once

#include <vector>

#include "analysis/activity.h"
#include "analysis/time_account.h"
#include "base/interval_set.h"
#include "base/time.h"

namespace pleat::analysis {

// Disjoint sets whose union is the window, `hidden` apart, which is a subset of compute. Each
// category takes only what those before it left.
struct Partition {
    base::IntervalSet compute;
    base::IntervalSet moving;   // transfers moving data, not under compute
    base::IntervalSet copy;     // device copies
    base::IntervalSet waiting;  // collectives waiting for their last member
    base::IntervalSet bubble;   // the rest: the device idles because of the pipeline
    base::IntervalSet hidden;   // transfers moving data under compute

    [[nodiscard]] const base::IntervalSet& operator[](TimePart part) const;
    // Lengths; sum to the window's.
    [[nodiscard]] TimeParts lengths() const;
    [[nodiscard]] TimeParts lengthsWithin(const base::IntervalSet& set) const;
};

[[nodiscard]] Partition partition(const RankActivity& activity);

// Exposed waiting of one rank for one late rank in collectives of one dimension.
struct Wait {
    trace::RankId lateRank;  // invalid: not known
    trace::Dimension dimension = trace::Dimension::Other;
    base::Duration duration;
};

// The waiting part of `partition` by late rank and dimension; sums to it exactly. Where several
// collectives wait at once, the one that began to wait first has the time. O(n log n).
[[nodiscard]] std::vector<Wait> waitsOf(const RankActivity& activity, const Partition& partition);

}  // namespace pleat::analysis
