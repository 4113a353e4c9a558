// Tasks of a pipeline in whose trace nothing names them, from its messages alone: activations leave
// a rank when a forward ends, gradients when a backward does, and neither begins before what it
// needs has arrived. Which schedule ran (GPipe or 1F1B, one stage a rank) is what fits the order of
// the messages best; where two tasks share a stretch, the usual durations of a forward and a
// backward divide it.
#pragma once

#include <string>
#include <vector>

#include "annotate/draft.h"

namespace pleat::annotate {

struct InferredSchedule {
    double confidence =
        0;  // share of (rank, iteration) whose messages come as the schedule has them
    std::vector<std::string> also;  // schedules whose messages would come in the same order
};

// Adds tasks, and stage, microbatch and action to the messages they were read from. Nothing is
// added, and the confidence is 0, where fewer than half of the messages fit or there is no pipeline
// ("pattern_not_understood"). The draft is sorted and its iterations are filled in.
[[nodiscard]] InferredSchedule inferTasks(Draft& draft);

}  // namespace pleat::annotate
