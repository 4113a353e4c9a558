// The analysis of a run as text for a person: what stands first matters most. Renders only; every
// figure comes from analysis. Pure; lines fit kTextWidth columns.
#pragma once

#include <map>
#include <string>

#include "analysis/run_analysis.h"

namespace pleat::report {

struct TextOptions {
    bool allRanks = false;  // a row for every rank, however many there are (report/rank_rows.h)
};

[[nodiscard]] std::string renderText(const analysis::RunAnalysis& analysis,
                                     const TextOptions& options = {});

// The path's attribution by kind, rank and stage, "none" for what has none.
[[nodiscard]] std::string renderPathShares(const analysis::PathSummary& path);

// Its first line.
[[nodiscard]] std::string renderKinds(const std::map<std::string, base::Duration>& kinds,
                                      base::Duration whole);

// "folded, 2 ranks, 2 chunks, 8 microbatches (100.0 % of recorded task orders match)"
[[nodiscard]] std::string describeSchedule(const trace::RecognisedSchedule& schedule);

// What makes a replay doubtful: a large error, pauses that it only repeats. Empty without either.
[[nodiscard]] std::string renderReplayWarnings(const analysis::ReplaySummary& replay,
                                               const std::string& indent);

// "120.000 ms without the recorded pauses (3.4 % of the replayed critical path)"
[[nodiscard]] std::string describePauses(const analysis::ReplaySummary& replay);

}  // namespace pleat::report
