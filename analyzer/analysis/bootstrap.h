// Bootstrap intervals: how far a figure of a few iterations may lie from that of many. Percentile
// intervals of 95 % from 2000 resamples (Efron 1979) with fixed seeds, so that the same durations
// give the same interval with every standard library. Functions are pure; MedianDifference keeps
// what it drew and is for one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"

namespace pleat::analysis {

// Of the mean; none for fewer than two values. Values in ns whose sum fits. Of more than
// kMostResampled the mean's distribution is normal, and no resampling is needed: 1.96 standard
// errors either way.
inline constexpr std::size_t kMostResampled = 2'048;
[[nodiscard]] std::optional<std::pair<base::Duration, base::Duration>> meanInterval(
    std::span<const base::Duration> durations);

// Intervals of median(other) - median(base), both resampled, each by itself. Swapping the two
// negates the interval exactly. Which of n values in ascending order a resample's median is does
// not depend on the values, so that is drawn once for each n: O(n log n) for a pair after the first
// of its size, O(2000 n) for that.
class MedianDifference {
  public:
    // At least one value each, in any order. Equal values one by one are one measurement given
    // twice: its difference from itself is zero, whatever it may have been.
    [[nodiscard]] std::pair<double, double> interval(std::vector<double> base,
                                                     std::vector<double> other);

  private:
    // The two places in ascending order between which a resample's median lies.
    using Middle = std::array<std::uint32_t, 2>;
    using Middles = std::vector<Middle>;

    [[nodiscard]] const Middles& middles(std::size_t count, std::uint64_t seed);

    std::map<std::pair<std::size_t, std::uint64_t>, Middles> m_middles;
};

}  // namespace pleat::analysis
