// Iterations of tasks whose names say neither an iteration nor a microbatch, where no range marks
// iterations: a rank's iteration ends with its optimizer step, or else when as many backwards as
// forwards have run. One thread.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// The draft is sorted. The last rank of a 1F1B pipeline is even after each microbatch, so it is
// divided as the rank that is even least often. Messages and syncs without an iteration are divided
// evenly among their rank's iterations. Counted as "iteration_guessed".
void numberDrainedIterations(Draft& draft);

}  // namespace pleat::annotate
