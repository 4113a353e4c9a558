// Sets of time as sorted, disjoint, non-empty half-open intervals [begin, end). All set operations
// are linear merges, so an accounting built from them sums exactly: total(a - b) + total(a & b) ==
// total(a).
#pragma once

#include <span>
#include <vector>

#include "base/time.h"

namespace pleat::base {

struct Interval {
    TraceTime begin;
    TraceTime end;

    [[nodiscard]] constexpr Duration length() const { return end - begin; }
    [[nodiscard]] constexpr bool empty() const { return end <= begin; }
    friend constexpr bool operator==(Interval, Interval) = default;
};

[[nodiscard]] constexpr Interval intersect(Interval a, Interval b) {
    return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

class IntervalSet {
  public:
    IntervalSet() = default;
    IntervalSet(Interval interval);  // NOLINT: one interval is a set
    // Any order, overlapping and empty intervals allowed; sorted and merged here. O(n log n).
    explicit IntervalSet(std::vector<Interval> intervals);

    [[nodiscard]] std::span<const Interval> intervals() const { return m_intervals; }
    [[nodiscard]] bool empty() const { return m_intervals.empty(); }
    [[nodiscard]] Duration total() const;
    friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

    friend IntervalSet operator|(const IntervalSet& a, const IntervalSet& b);
    friend IntervalSet operator&(const IntervalSet& a, const IntervalSet& b);
    friend IntervalSet operator-(const IntervalSet& a, const IntervalSet& b);

  private:
    std::vector<Interval> m_intervals;
};

}  // namespace pleat::base
