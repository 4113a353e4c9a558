// Second step of annotation: what a program did not say about its tasks and transfers is worked out
// from its other markers: rank numbers and coordinates from the stages, chunks from the order of
// the stages on a rank, iterations from the enclosing range or by counting repetitions, peers from
// the stage a message goes to. Every guess is counted.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// The draft is sorted.
void fillGaps(Draft& draft);

}  // namespace pleat::annotate
