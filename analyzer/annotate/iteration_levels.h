// Which of the numbered ranges that may be iterations are: programs number what is inside an
// iteration too ("step_0" to "step_3" within "iteration 7").
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Leaves the iteration ranges of the outermost level that repeats, and counts those dropped
// ("iteration_ranges_nested"). Levels are told apart by what names share apart from their numbers:
// a name belongs inside another where most of its ranges are within ranges of the other. A level
// of which every rank has a single range does not repeat, unless nothing inside it does. Of names
// side by side in one stretch of time, the one with the most time stays. O(n log n).
void keepOutermostIterations(Draft& draft);

}  // namespace pleat::annotate
