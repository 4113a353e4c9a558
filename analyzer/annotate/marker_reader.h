// First step of annotation: every marker of core/schedule/markers.h becomes a rank's coordinates, a
// process group, an iteration, a phase, a task or a transfer, as far as it says so itself. What it
// leaves out stays -1 for the next step (fill_gaps.h). Linear in the events apart from sorting.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

[[nodiscard]] Draft readMarkers(const trace::Trace& events);

}  // namespace pleat::annotate
