// Messages between pipeline ranks that say no more than their ends, as NCCL's kernels do: which
// task's result each carries, from the order of tasks and messages.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Of the messages from one rank to another, the k-th carries the result of the k-th task whose next
// stage lies there, where a run (or an iteration of it) has as many of one as of the other and
// nearly every message begins when its task has ended. Both ends then get action, stage, chunk and
// microbatch ("fields_guessed"). The draft is sorted and its transfers are matched. O(n log n) in
// tasks and transfers.
void nameMatchedMessages(Draft& draft);

}  // namespace pleat::annotate
