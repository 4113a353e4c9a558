#include "analysis/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace pleat::analysis {
namespace {

constexpr std::size_t kResamples = 2000;
constexpr std::size_t kLow = kResamples * 25 / 1000;        // of sorted resamples: 2.5 %
constexpr std::size_t kHigh = kResamples * 975 / 1000 - 1;  // 97.5 %, as far from the end
constexpr std::uint64_t kSeed = 0x9e37'79b9'7f4a'7c15;
constexpr std::uint64_t kOtherSeed = 0xbf58'476d'1ce4'e5b9;

// The generator is specified by the standard, distributions are not: the remainder keeps figures
// the same everywhere, at a bias below 1e-12.
std::size_t draw(std::mt19937_64& generator, std::size_t count) { return generator() % count; }

std::pair<base::Duration, base::Duration> normalInterval(
    std::span<const base::Duration> durations) {
    const auto count = static_cast<double>(durations.size());
    double sum = 0, squares = 0;
    for (const base::Duration duration : durations) sum += static_cast<double>(duration.ns);
    const double mean = sum / count;
    for (const base::Duration duration : durations) {
        const double away = static_cast<double>(duration.ns) - mean;
        squares += away * away;
    }
    const double reach = 1.96 * std::sqrt(squares) / count;
    return {{std::llround(mean - reach)}, {std::llround(mean + reach)}};
}

}  // namespace

std::optional<std::pair<base::Duration, base::Duration>> meanInterval(
    std::span<const base::Duration> durations) {
    if (durations.size() < 2) return std::nullopt;
    if (durations.size() > kMostResampled) return normalInterval(durations);
    std::mt19937_64 generator(kSeed);
    std::vector<std::int64_t> means;
    means.reserve(kResamples);
    for (std::size_t i = 0; i < kResamples; ++i) {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < durations.size(); ++k)
            sum += durations[draw(generator, durations.size())].ns;
        means.push_back(sum / static_cast<std::int64_t>(durations.size()));
    }
    std::sort(means.begin(), means.end());
    return std::pair<base::Duration, base::Duration>{{means[kLow]}, {means[kHigh]}};
}

const MedianDifference::Middles& MedianDifference::middles(std::size_t count, std::uint64_t seed) {
    const auto [entry, isNew] = m_middles.try_emplace({count, seed});
    Middles& middles = entry->second;
    if (!isNew) return middles;
    std::mt19937_64 generator(seed);
    std::vector<std::uint32_t> resample(count);
    for (std::size_t i = 0; i < kResamples; ++i) {
        for (std::uint32_t& place : resample)
            place = static_cast<std::uint32_t>(draw(generator, count));
        const auto upper = resample.begin() + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(resample.begin(), upper, resample.end());
        const std::uint32_t lower =
            count % 2 == 1 ? *upper : *std::max_element(resample.begin(), upper);
        middles.push_back({lower, *upper});
    }
    return middles;
}

std::pair<double, double> MedianDifference::interval(std::vector<double> base,
                                                     std::vector<double> other) {
    if (base == other) return {0, 0};
    // Which of the two has which seed must not depend on the order they are given in.
    const bool swapped = other < base;
    if (swapped) std::swap(base, other);
    std::sort(base.begin(), base.end());
    std::sort(other.begin(), other.end());
    const Middles& ofBase = middles(base.size(), kSeed);
    const Middles& ofOther = middles(other.size(), kOtherSeed);
    const auto middle = [](const std::vector<double>& sorted, Middle places) {
        return (sorted[places[0]] + sorted[places[1]]) / 2;
    };
    std::vector<double> differences;
    differences.reserve(kResamples);
    for (std::size_t i = 0; i < kResamples; ++i)
        differences.push_back(middle(other, ofOther[i]) - middle(base, ofBase[i]));
    std::sort(differences.begin(), differences.end());
    if (swapped) return {0.0 - differences[kHigh], 0.0 - differences[kLow]};  // never -0
    return {differences[kLow], differences[kHigh]};
}

}  // namespace pleat::analysis
