// What stands at the head of every answer: what is wrong with the data or the analysis, before any
// figure that it spoils; else the worst straggler and the largest losses. Sentences only; every
// figure comes from analysis. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare.h"
#include "analysis/path_analysis.h"
#include "analysis/rank_path.h"
#include "analysis/run_analysis.h"
#include "analysis/run_info.h"
#include "analysis/what_if.h"
#include "base/diagnostics.h"

namespace pleat::report {

// Above it, idle time without a known cause is a problem of the answer.
inline constexpr double kLargeUnknownShare = 0.10;

struct Headline {
    std::vector<std::string> problems;  // the worst first, without a full stop
    std::string answer;                 // empty where there is none

    // The problems, else the answer.
    [[nodiscard]] std::string sentence() const;
};

// Of the diagnostics those that spoil figures: what was cut off, lost or damaged, and what could
// not be done.
[[nodiscard]] std::vector<std::string> dataProblems(const base::Diagnostics& diagnostics);

[[nodiscard]] Headline headlineOf(const analysis::RunAnalysis& analysis);
[[nodiscard]] Headline headlineOf(const analysis::PathAnalysis& path);
[[nodiscard]] Headline headlineOf(const analysis::RankPath& path);
[[nodiscard]] Headline headlineOf(const analysis::RunInfo& info);
[[nodiscard]] Headline headlineOf(const analysis::WhatIf& answer);
[[nodiscard]] Headline headlineOf(const analysis::Comparison& comparison);

// A line for each problem, "WARNING: …", and nothing without any.
[[nodiscard]] std::string renderProblems(const std::vector<std::string>& problems);

}  // namespace pleat::report
