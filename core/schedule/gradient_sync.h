// Where a rank's gradient syncs stand in its list. The one home of that rule: generators and the
// runtime, which adds syncs to schedule files that leave them out, both call it.
#pragma once

#include <vector>

#include "schedule/action.h"

namespace pleat::schedule {

// The list with a REDUCE_GRAD right after the last full backward of every stage that has none yet.
[[nodiscard]] std::vector<Action> withGradientSync(const std::vector<Action>& order);

}  // namespace pleat::schedule
