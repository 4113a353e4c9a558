#include "analysis/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/bootstrap.h"
#include "base/statistics.h"

namespace pleat::analysis {
namespace {

void findWarmUp(const std::vector<std::int64_t>& inOrder, IterationStatistics& statistics) {
    constexpr double kSlow = 1.5;
    const auto median = static_cast<double>(statistics.median.ns);
    std::size_t slow = 0;
    double sum = 0;
    while (slow < inOrder.size() && static_cast<double>(inOrder[slow]) > kSlow * median)
        sum += static_cast<double>(inOrder[slow++]);
    if (slow == 0 || 2 * slow >= inOrder.size()) return;
    statistics.warmUp = slow;
    statistics.warmUpRatio = sum / static_cast<double>(slow) / median;
}

}  // namespace

base::Result<void> checkTimes(const graph::RunIndex& run,
                              std::span<const graph::IterationWindow> windows) {
    const graph::Extent& extent = run.extent();
    double longest = 0;
    for (const graph::IterationWindow& window : windows)
        longest = std::max(longest, static_cast<double>(window.window.length().ns));
    // Of all ranks; of any choice of as many windows as there are; of every node.
    const double most = extent.length() * static_cast<double>(run.trace().ranks().size() + 1) +
                        longest * static_cast<double>(windows.size()) + extent.sum;
    if (most < 0x1p61) return {};
    constexpr double kDay = 86'400e9;
    return base::Error{
        base::ErrorCode::Input,
        fmt::format("its tasks and transfers last {:.0f} days in total and are up to {:.0f} days "
                    "apart, so the times in the trace must be damaged",
                    extent.sum / kDay, extent.length() / kDay)};
}

base::Result<std::vector<graph::IterationWindow>> selectIterations(
    std::span<const graph::IterationWindow> windows, std::span<const IterationRange> ranges,
    base::Diagnostics& diagnostics) {
    std::vector<graph::IterationWindow> selected;
    std::vector<bool> anyIn(ranges.size(), windows.empty());
    for (const graph::IterationWindow& window : windows) {
        bool chosen = ranges.empty();
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            const bool within =
                window.iteration >= ranges[i].first && window.iteration <= ranges[i].last;
            if (within) chosen = anyIn[i] = true;
        }
        if (!chosen) continue;
        if (window.complete && !window.window.empty()) {
            selected.push_back(window);
            continue;
        }
        diagnostics.add("iteration_incomplete",
                        fmt::format("iteration {} is excluded: a rank has no complete range, or "
                                    "fewer tasks than in the other iterations",
                                    window.iteration));
    }
    const auto missed = std::find(anyIn.begin(), anyIn.end(), false);
    if (missed == anyIn.end()) return selected;
    const IterationRange& range = ranges[static_cast<std::size_t>(missed - anyIn.begin())];
    return base::Error{
        base::ErrorCode::Usage,
        fmt::format("no iteration in {}:{} was recorded; the trace has {}:{}", range.first,
                    range.last, windows.front().iteration, windows.back().iteration)};
}

IterationStatistics iterationStatistics(std::span<const graph::IterationWindow> windows) {
    IterationStatistics statistics;
    std::vector<base::Duration> lengths;
    std::vector<std::int64_t> durations;
    std::int64_t sum = 0;
    for (const graph::IterationWindow& window : windows) {
        statistics.indices.push_back(window.iteration);
        lengths.push_back(window.window.length());
        durations.push_back(lengths.back().ns);
        sum += durations.back();
    }
    if (durations.empty()) return statistics;
    statistics.ci95 = meanInterval(lengths);
    const std::vector<std::int64_t> inOrder = durations;
    const std::size_t n = durations.size();
    statistics.median = {base::medianOf(durations)};
    statistics.p90 = {base::nearestRank(durations, 9, 10)};
    statistics.mean = {sum / static_cast<std::int64_t>(n)};
    findWarmUp(inOrder, statistics);
    return statistics;
}

base::Result<graph::IterationWindow> chooseIteration(const graph::RunIndex& run,
                                                     std::optional<std::int32_t> iteration) {
    const auto windows = run.windows();
    if (const auto usable = checkTimes(run, windows); !usable) return usable.error();
    base::Diagnostics incomplete;
    std::vector<IterationRange> ranges;
    if (iteration) ranges.push_back({*iteration, *iteration});
    const auto complete = selectIterations(windows, ranges, incomplete);
    if (!complete) return complete.error();
    if (complete->empty()) {
        return base::Error{base::ErrorCode::Input,
                           windows.empty()
                               ? "no pipeline tasks in the trace, so there is no critical path; "
                                 "pleat info shows what was recorded"
                               : "the requested iteration was not recorded completely on every "
                                 "rank; pleat info lists the complete ones"};
    }
    const base::Duration median = iterationStatistics(*complete).median;
    return *std::min_element(complete->begin(), complete->end(), [&](const auto& a, const auto& b) {
        return std::abs(a.window.length().ns - median.ns) <
               std::abs(b.window.length().ns - median.ns);
    });
}

}  // namespace pleat::analysis
