// What the analyzer has to find in a made run, worked out again in the plainest way: a rank's time
// is cut at every begin and end, each piece is looked up in every list, and the replays that name
// bubble causes are made runs themselves. Shares no code with the analyzer. For small runs of one
// iteration; quadratic.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/synthetic_run.h"

namespace pleat::testing {

struct NaiveRank {
    std::int64_t compute_ns = 0, moving_ns = 0, waiting_ns = 0, bubble_ns = 0;
    std::map<std::string, std::int64_t> causes;  // none of 0
};

struct NaiveAccount {
    base::Interval window;
    std::vector<NaiveRank> ranks;
};

// `options` is of one iteration; `run` was made from it. Definitions: docs/analysis.md.
[[nodiscard]] NaiveAccount naiveAccount(const SyntheticOptions& options, const SyntheticRun& run);

}  // namespace pleat::testing
