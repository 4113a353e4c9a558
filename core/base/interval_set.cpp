#include "base/interval_set.h"

#include <algorithm>
#include <utility>

namespace pleat::base {

IntervalSet::IntervalSet(Interval interval) {
    if (!interval.empty()) m_intervals.push_back(interval);
}

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
    std::erase_if(intervals, [](Interval i) { return i.empty(); });
    std::sort(intervals.begin(), intervals.end(),
              [](Interval a, Interval b) { return a.begin < b.begin; });
    for (const Interval interval : intervals) {
        if (!m_intervals.empty() && interval.begin <= m_intervals.back().end) {
            m_intervals.back().end = std::max(m_intervals.back().end, interval.end);
        } else {
            m_intervals.push_back(interval);
        }
    }
}

Duration IntervalSet::total() const {
    Duration sum;
    for (const Interval interval : m_intervals) sum += interval.length();
    return sum;
}

IntervalSet operator|(const IntervalSet& a, const IntervalSet& b) {
    std::vector<Interval> both(a.m_intervals);
    both.insert(both.end(), b.m_intervals.begin(), b.m_intervals.end());
    return IntervalSet(std::move(both));
}

IntervalSet operator&(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet result;
    for (auto left = a.m_intervals.begin(), right = b.m_intervals.begin();
         left != a.m_intervals.end() && right != b.m_intervals.end();) {
        const Interval common = intersect(*left, *right);
        if (!common.empty()) result.m_intervals.push_back(common);
        (left->end < right->end ? left : right)++;
    }
    return result;
}

IntervalSet operator-(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet result;
    auto cut = b.m_intervals.begin();
    for (Interval rest : a.m_intervals) {
        while (cut != b.m_intervals.end() && cut->end <= rest.begin) ++cut;
        for (auto next = cut; next != b.m_intervals.end() && next->begin < rest.end; ++next) {
            if (next->begin > rest.begin) result.m_intervals.push_back({rest.begin, next->begin});
            rest.begin = std::max(rest.begin, next->end);
        }
        if (!rest.empty()) result.m_intervals.push_back(rest);
    }
    return result;
}

}  // namespace pleat::base
