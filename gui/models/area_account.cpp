#include "models/area_account.h"

#include <set>

#include "analysis/iterations.h"

namespace pleat::models {
std::vector<AreaAccount> accountArea(const trace::Trace& trace,
                                     const analysis::IterationAnalysis& analysis,
                                     const timeline::PipelineScene& scene, std::uint32_t firstRow,
                                     std::uint32_t lastRow, base::Interval range) {
    std::vector<AreaAccount> accounts;
    const base::Interval clipped = intersect(range, analysis.window.window);
    if (clipped.empty()) return accounts;
    const base::IntervalSet within(clipped);
    std::set<std::int32_t> numbers;
    for (std::size_t row = firstRow; row <= lastRow && row < scene.rows.size(); ++row)
        numbers.insert(scene.rows[row].rank);
    for (const analysis::RankIteration& rank : analysis.ranks) {
        const std::int32_t number = trace.ranks()[rank.rank].number;
        if (numbers.contains(number))
            accounts.push_back({number, rank.parts.lengthsWithin(within)});
    }
    return accounts;
}

base::Result<std::vector<AreaAccount>> accountArea(const graph::RunIndex& run,
                                                   std::span<const trace::LaneId> lanes,
                                                   base::Interval range) {
    const trace::Trace& trace = run.trace();
    std::set<trace::RankId> chosen;
    for (const trace::LaneId lane : lanes) chosen.insert(trace.lanes()[lane].rank);
    std::vector<trace::RankId> ranks;
    for (const trace::RankId rank : run.trainingRanks()) {
        if (chosen.contains(rank)) ranks.push_back(rank);
    }
    std::vector<AreaAccount> accounts;
    if (ranks.empty() || range.empty()) return accounts;
    const std::vector<graph::IterationWindow> window{{-1, range, false}};
    if (const auto usable = analysis::checkTimes(run, window); !usable) return usable.error();
    const base::IntervalSet within(range);
    const auto activities = analysis::collectActivities(run, window, ranks);
    for (const analysis::RankActivity& activity : activities.front()) {
        accounts.push_back({trace.ranks()[activity.rank].number,
                            analysis::partition(activity).lengthsWithin(within)});
    }
    return accounts;
}

}  // namespace pleat::models
