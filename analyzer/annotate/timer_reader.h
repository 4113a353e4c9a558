// Timers of Megatron-style pipeline programs as ndtimeline writes them: an event per operation with
// its step, model chunk and microbatch. Source of the vocabulary: docs/importing.md.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Adds tasks, transfers and phases. Messages do not say their microbatch: the k-th of a kind
// belongs to the k-th task that has such a message ("fields_guessed").
void readTimers(Draft& draft);

}  // namespace pleat::annotate
