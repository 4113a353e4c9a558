// Where each rank's time went in a made run, summed in the plainest way from what happened: one
// pass over the begins and ends of a rank's intervals. Shares no code with the analyzer. For runs
// whose iterations begin and end at the same moments on all ranks. Pure.
#pragma once

#include <vector>

#include "support/made_run.h"

namespace pleat::testing {

// By rank; means over all iterations. Definitions: docs/analysis.md. Where the first phase gathers
// parameters instead of loading data, it moves.
[[nodiscard]] std::vector<TrueAccount> trueAccounts(const SyntheticRun& run,
                                                    const std::vector<std::vector<HostStep>>& host,
                                                    bool gathers);

}  // namespace pleat::testing
