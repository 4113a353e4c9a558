// The iterations that events do not say: of the range around them, else how often their rank ran
// them before.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Needs everything found in order of rank and start. What a host call started on the device belongs
// where the call lies.
void fillIterations(Draft& draft);

}  // namespace pleat::annotate
