// What a run will do, worked out from the options before anything is started: the text, the
// schedule (from its name or a file; validated and lowered) and the layout. Every rank works out
// the same plan by itself. Immutable.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "instrumented_runtime/corpus.h"
#include "instrumented_runtime/layout.h"
#include "instrumented_runtime/options.h"
#include "schedule/schedule.h"

namespace pleat::runtime {

struct TrainingPlan {
    TrainOptions options;
    Corpus corpus;
    schedule::Schedule schedule;
    Layout layout;
};

// Everything that can be wrong with the options and the files they name is found here.
[[nodiscard]] base::Result<TrainingPlan> makePlan(const TrainOptions& options);

}  // namespace pleat::runtime
