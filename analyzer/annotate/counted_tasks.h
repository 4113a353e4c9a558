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

// Messages whose names say their kind only ("forward-recv", "PP::fwd_send (stage 0)"): where a
// rank's iteration has as many of a kind as tasks that have such a message, the k-th is the k-th
// task's
// ("fields_guessed"). The draft is sorted.
void nameCountedMessages(Draft& draft);

}  // namespace pleat::annotate
