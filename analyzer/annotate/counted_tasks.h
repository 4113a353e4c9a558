// Tasks whose names say what they are but not of which stage or microbatch, as training frameworks
// name them: the k-th forward of an iteration is microbatch k, and the stage is the rank's place in
// its pipeline.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// The draft is sorted and its iterations are filled in. A task within another of its kind (one
// function that calls the other) is left out. "task_without_stage": its rank's place is not known;
// left out. What was counted is "fields_guessed".
void nameCountedTasks(Draft& draft);

}  // namespace pleat::annotate
