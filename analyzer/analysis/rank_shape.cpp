#include "analysis/rank_shape.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/statistics.h"

namespace pleat::analysis {
namespace {

double computeOf(const RankSummary& rank) {
    return static_cast<double>(rank.time[TimePart::Compute].ns);
}

// Of two the lower: the slower one stands out, not both from a mean that neither has.
double usualOf(std::vector<double>& values) { return base::nearestRank(values, 1, 2); }

// Whether one of several ratios to their median stands out from the rest.
class Usual {
  public:
    explicit Usual(const std::vector<double>& ratios) {
        std::vector<double> deviations;
        for (const double ratio : ratios) deviations.push_back(std::abs(ratio - 1));
        m_deviation = usualOf(deviations);
    }
    [[nodiscard]] bool standsOut(double ratio) const {
        return std::abs(ratio - 1) > std::max(kStandsOut, 4 * m_deviation);
    }

  private:
    double m_deviation = 0;
};

RankSummary meanOf(std::span<const RankSummary> ranks, const std::vector<std::size_t>& members) {
    RankSummary sum;
    const auto count = static_cast<std::int64_t>(members.size());
    for (const std::size_t i : members) sum.time += ranks[i].time;
    sum.time = sum.time.mean(count);
    return sum;
}

std::vector<RankGroup> groupsBy(std::span<const RankSummary> ranks,
                                std::int32_t trace::Coordinates::*coordinate) {
    std::map<std::int32_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const std::int32_t at = ranks[i].coordinates.*coordinate;
        if (at >= 0) members[at].push_back(i);
    }
    std::vector<RankGroup> groups;
    if (members.size() < 2) return groups;
    std::vector<double> computes, ratios;
    for (const auto& [at, list] : members) {
        groups.push_back({at, list.size(), meanOf(ranks, list)});
        computes.push_back(computeOf(groups.back().mean));
    }
    const double median = usualOf(computes);
    for (RankGroup& group : groups) {
        if (median > 0) group.ratio = computeOf(group.mean) / median;
        ratios.push_back(group.ratio);
    }
    const Usual usual(ratios);
    for (RankGroup& group : groups) group.standsOut = usual.standsOut(group.ratio);
    return groups;
}

// Stages differ by design, so a rank is compared with those of its own pipeline rank.
std::vector<RankOutlier> outliersOf(std::span<const RankSummary> ranks) {
    std::map<std::int32_t, std::vector<double>> computes;
    for (const RankSummary& rank : ranks) computes[rank.coordinates.pp].push_back(computeOf(rank));
    std::map<std::int32_t, double> medians;
    for (auto& [stage, list] : computes) medians[stage] = usualOf(list);
    std::vector<double> ratios;
    for (const RankSummary& rank : ranks) {
        const double median = medians[rank.coordinates.pp];
        ratios.push_back(median > 0 ? computeOf(rank) / median : 1);
    }
    const Usual usual(ratios);
    std::vector<RankOutlier> outliers;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        if (usual.standsOut(ratios[i])) outliers.push_back({i, ratios[i]});
    }
    std::stable_sort(outliers.begin(), outliers.end(), [](const auto& a, const auto& b) {
        return std::abs(a.ratio - 1) > std::abs(b.ratio - 1);
    });
    return outliers;
}

}  // namespace

RankShape shapeOf(std::span<const RankSummary> ranks) {
    std::vector<std::size_t> order(ranks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return computeOf(ranks[a]) < computeOf(ranks[b]);
    });
    RankShape shape;
    shape.fastest = order.front();
    shape.slowest = order.back();
    shape.median = order[(order.size() - 1) / 2];
    shape.outliers = outliersOf(ranks);
    shape.byDp = groupsBy(ranks, &trace::Coordinates::dp);
    shape.byPp = groupsBy(ranks, &trace::Coordinates::pp);
    return shape;
}

}  // namespace pleat::analysis
