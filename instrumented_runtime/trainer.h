// One rank of a training run from start to end: its stages, its connections, the steps, the loss
// log.
#pragma once

#include "base/result.h"
#include "instrumented_runtime/environment.h"
#include "instrumented_runtime/training_plan.h"

namespace pleat::runtime {

// Io error when another rank is gone. After an error threads may be stuck in transfers with it: the
// caller must end the process without running destructors of static objects (std::_Exit).
[[nodiscard]] base::Result<void> trainRank(const TrainingPlan& plan,
                                           const RankEnvironment& environment);

}  // namespace pleat::runtime
