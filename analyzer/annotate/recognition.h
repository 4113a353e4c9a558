// Last step of annotation: which schedule ran, from the order of tasks on each rank in each
// iteration against what the generators give for the same size.
#pragma once

#include <optional>

#include "annotate/draft.h"

namespace pleat::annotate {

// Nothing without tasks; "unknown" with confidence 0 when fewer than half of the orders equal any
// known schedule's. Of equally good names the simplest (gpipe, 1f1b, interleaved, folded), with the
// others as `also`. Where nothing tells which stage a rank runs no schedule is named, whatever the
// order ("stages_unknown"); then its ranks and chunks are 0.
[[nodiscard]] std::optional<trace::RecognisedSchedule> recogniseSchedule(Draft& draft);

// Whether the ranks run one single stage that is not known to be all of the pipeline: several ranks
// without a recorded place in the layout, or messages to stages that are not in the trace. Before
// gaps of the layout are filled (fill_gaps.h).
[[nodiscard]] bool isStageUnknown(const Draft& draft);

}  // namespace pleat::annotate
