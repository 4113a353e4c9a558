// The whole analysis of a run, as plain data: what every report, text or JSON, renders. Durations
// are means per iteration over the complete iterations selected, rounded so that parts sum to their
// whole exactly (exact_mean.h). Definitions in docs/analysis.md. Pure functions; results are
// immutable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/bubbles.h"
#include "analysis/device_catalogue.h"
#include "analysis/iterations.h"
#include "analysis/overlap.h"
#include "analysis/replay_model.h"
#include "analysis/stragglers.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::analysis {

inline constexpr std::size_t kMostReplayedNodes = 500'000;

struct AnalysisOptions {
    std::vector<IterationRange> iterations;  // none: all
};

struct WaitSummary {
    std::int32_t lateRank = -1;  // number; -1 unknown
    std::string lateDevice;      // where its process worked on several; else empty
    trace::Dimension dimension = trace::Dimension::Other;
    base::Duration duration;
};

struct RankSummary {
    std::int32_t number = -1;
    std::string device;                // empty where unknown
    bool oneOfSeveralDevices = false;  // of its process: ranks of one number differ by device
    trace::Coordinates coordinates;
    TimeAccount time;
    std::vector<WaitSummary> waits;  // the longest first
    // Within the bubble: before collectives whose timers begin when the last member is there.
    std::vector<WaitSummary> idleWaits;  // the longest first
    std::vector<TransferRow> transfers;
};

struct BubbleSummary {
    std::optional<double> fraction;  // bubble over all ranks / (ranks x window)
    // (p - 1) / (v M + p - 1), the closed form for balanced stages, where the schedule recognised
    // has one.
    std::optional<double> theoreticalFraction;
    // Where it has none: the idle share of the replayed iteration with every task as long as the
    // mean of its kind and nothing else taking time.
    std::optional<double> replayedMinimum;
    CauseFractions byCause;  // sum to fraction
};

struct PathSummary {
    base::Duration length;
    std::map<std::string, base::Duration> byKind;
    std::map<std::int32_t, base::Duration> byRank;   // rank number; -1 unknown
    std::map<std::int32_t, base::Duration> byStage;  // -1: no stage
};

struct RunAnalysis {
    IterationStatistics iterations;
    std::optional<trace::RecognisedSchedule> schedule;
    std::vector<RankSummary> ranks;
    std::vector<TransferRow> transfers;         // summed over ranks
    std::vector<GradientSyncRow> gradientSync;  // per chunk, summed over ranks
    BubbleSummary bubble;
    std::optional<PathSummary> criticalPath;
    std::optional<ReplaySummary> replay;     // of coarse timers: of their rules, as stragglers are
    std::optional<DeviceCatalogue> devices;  // of the whole trace; none without device work
    // Of a long run from iterations spread evenly over it: as many as have kMostReplayedNodes.
    std::vector<Straggler> stragglers;
    StragglerSearch stragglerSearch;
    // The trace's and the analysis' own. What is missing altogether (no tasks, no complete
    // iteration) is an Error here, not of the call: the rest is still reported.
    base::Diagnostics diagnostics;
};

// `trace` is annotated. Usage error for an iteration range that was not recorded.
[[nodiscard]] base::Result<RunAnalysis> analyseRun(const graph::RunIndex& run,
                                                   const AnalysisOptions& options);

}  // namespace pleat::analysis
