// Sums over the iterations of a run, and their means. The step between one iteration's figures and
// RunAnalysis, or the samples of a comparison; apart so that each file has one task.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/accounting.h"
#include "analysis/bubbles.h"
#include "analysis/critical_path.h"
#include "analysis/overlap.h"
#include "analysis/run_analysis.h"
#include "graph/measured_graph.h"

namespace pleat::analysis {

struct RankTotals {
    TimeAccount time;
    using Waits = std::map<std::pair<trace::RankId, trace::Dimension>, base::Duration>;
    Waits waits, idleWaits;  // by late rank; invalid: unknown
    std::map<TransferKey, OverlapFigures> transfers;
    std::map<std::int32_t, OverlapFigures> gradientSync;

    void add(const RankActivity& activity, const Partition& parts, const CauseDurations& bubble,
             const std::vector<IdleWait>& idle);
    RankTotals& operator+=(const RankTotals& other);
    // Means over `iterations`, parts summing to the whole.
    [[nodiscard]] RankSummary mean(const trace::Trace& trace, const trace::Rank& rank,
                                   std::int64_t iterations) const;
};

struct PathTotals {
    std::int64_t iterations = 0;
    base::Duration length, predicted, measured, error;
    std::map<std::string, base::Duration> byKind;
    std::map<std::int32_t, base::Duration> byRank, byStage;

    void add(const trace::Trace& trace, const graph::TaskGraph& graph,
             const graph::IterationWindow& window);
    [[nodiscard]] PathSummary meanPath() const;
    [[nodiscard]] ReplaySummary meanReplay() const;
};

[[nodiscard]] std::vector<TransferRow> meanRows(const std::map<TransferKey, OverlapFigures>& sums,
                                                std::int64_t iterations);
[[nodiscard]] std::vector<GradientSyncRow> meanRows(
    const std::map<std::int32_t, OverlapFigures>& sums, std::int64_t iterations);

}  // namespace pleat::analysis
