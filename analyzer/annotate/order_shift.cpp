#include "annotate/order_shift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "annotate/clock_fit.h"
#include "base/statistics.h"

namespace pleat::annotate {
namespace {

// How many comparisons a search may take; at least so far it always looks.
constexpr std::ptrdiff_t kMostComparisons = 4'000'000;
constexpr std::ptrdiff_t kAlways = 32;
constexpr std::size_t kFew = 6;
constexpr std::size_t kMostCompared = 4'096;
constexpr double kPlainlyBetter = 4;

struct Candidate {
    std::ptrdiff_t shift = 0;
    double difference = 0;  // median of the ends' differences
    double spread = 0;      // what three quarters are no farther from it than
};

std::optional<Candidate> candidateOf(std::span<const OrderedPart> reference,
                                     std::span<const OrderedPart> other, std::ptrdiff_t shift) {
    const std::size_t shorter = std::min(reference.size(), other.size());
    const std::size_t skipped = shift < 0 ? static_cast<std::size_t>(-shift) : 0;
    reference = reference.subspan(shift > 0 ? static_cast<std::size_t>(shift) : 0);
    other = other.subspan(skipped);
    // A shift that leaves few pairs explains anything.
    const std::size_t pairs = std::min(reference.size(), other.size());
    if (pairs < (shorter < kFew ? shorter : (shorter + 1) / 2)) return std::nullopt;
    std::vector<double> differences;
    for (std::size_t i = 0; i < pairs; ++i) {
        if (reference[i].kind != other[i].kind) return std::nullopt;
        if (i < kMostCompared)
            differences.push_back(static_cast<double>(reference[i].endNs - other[i].endNs));
    }
    if (differences.empty()) return std::nullopt;
    Candidate candidate{shift, base::medianOf(differences), 0};
    for (double& difference : differences) difference = std::abs(difference - candidate.difference);
    // Of noisy timers the median is small by chance in some shift or other.
    candidate.spread = base::nearestRank(differences, 3, 4);
    return candidate;
}

// Does `better` explain the ends so much better than `usual` that it must be right?
bool plainlyBetter(const Candidate& better, const Candidate& usual) {
    const auto onOneClock = [](const Candidate& candidate) {
        return std::abs(candidate.difference) <= kEndSpreadNs * kPlainlyBetter + candidate.spread;
    };
    // What fits one clock, with ends that stray by little of what lies between two shifts, is
    // right.
    const double apart = std::abs(better.difference - usual.difference);
    if (onOneClock(usual) && !onOneClock(better) && usual.spread * 8 < apart) return false;
    if (better.spread * kPlainlyBetter + kEndSpreadNs < usual.spread) return true;
    return better.spread <= usual.spread + kEndSpreadNs &&
           std::abs(better.difference) <= kEndSpreadNs &&
           std::abs(usual.difference) > kEndSpreadNs * kPlainlyBetter + 2 * usual.spread;
}

}  // namespace

std::optional<OrderShift> findShift(std::span<const OrderedPart> reference,
                                    std::span<const OrderedPart> other) {
    const auto shorter = static_cast<std::ptrdiff_t>(std::min(reference.size(), other.size()));
    const auto longer = static_cast<std::ptrdiff_t>(std::max(reference.size(), other.size()));
    const std::ptrdiff_t farthest =
        std::min(std::max(kAlways, kMostComparisons / std::max<std::ptrdiff_t>(shorter, 1)),
                 longer - shorter / 2);
    std::vector<Candidate> candidates;
    // The nearest first: among equals it stays.
    for (std::ptrdiff_t distance = 0; distance <= farthest; ++distance) {
        for (const std::ptrdiff_t shift : {distance, -distance}) {
            const bool inRange = shift < static_cast<std::ptrdiff_t>(reference.size()) &&
                                 -shift < static_cast<std::ptrdiff_t>(other.size());
            if (!inRange || (distance == 0 && !candidates.empty())) continue;
            if (const auto found = candidateOf(reference, other, shift))
                candidates.push_back(*found);
        }
    }
    if (candidates.empty()) return std::nullopt;
    Candidate best = candidates.front();
    for (const Candidate& candidate : candidates)
        if (plainlyBetter(candidate, best)) best = candidate;
    const bool sure =
        std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return candidate.shift != best.shift && !plainlyBetter(best, candidate);
        });
    return OrderShift{best.shift, sure};
}

}  // namespace pleat::annotate
