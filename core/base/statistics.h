// Order statistics, each with one definition: the median of an even number of values is the mean of
// the two in the middle (of integers rounded towards zero), every other quantile is the nearest
// rank. They reorder the values they are given; O(n). Values add and divide as numbers do, or are
// Durations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace pleat::base {

namespace statistics_detail {
// a <= b. Their sum need not fit: two times of 150 years each are nanoseconds of 63 bits.
template <class Number>
Number middleOf(Number a, Number b) {
    if ((a < Number{}) != (b < Number{})) return (a + b) / 2;
    return a < Number{} ? b - (b - a) / 2 : a + (b - a) / 2;
}
inline Duration middleOf(Duration a, Duration b) { return {middleOf(a.ns, b.ns)}; }
}  // namespace statistics_detail

// The smallest value that at least `parts` of `ofParts` values do not exceed: nearestRank(v, 9, 10)
// is the 90th percentile. Zero for no values.
template <class Number>
[[nodiscard]] Number nearestRank(std::vector<Number>& values, std::size_t parts,
                                 std::size_t ofParts) {
    if (values.empty()) return {};
    const std::size_t rank =
        std::max<std::size_t>(1, (values.size() * parts + ofParts - 1) / ofParts);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// Zero for no values.
template <class Number>
[[nodiscard]] Number medianOf(std::vector<Number>& values) {
    if (values.empty()) return {};
    const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), upper, values.end());
    if (values.size() % 2 == 1) return *upper;
    return statistics_detail::middleOf(*std::max_element(values.begin(), upper), *upper);
}
template <class Number>
[[nodiscard]] Number medianOf(std::vector<Number>&& values) {
    return medianOf(values);
}

}  // namespace pleat::base
