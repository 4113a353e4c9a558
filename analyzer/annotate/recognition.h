// Last step of annotation: which schedule ran, from the order of tasks on each rank in each
// iteration against what the generators give for the same size.
#pragma once

#include <optional>

#include "base/id.h"
#include "trace/trace.h"

namespace pleat::annotate {

// Nothing without tasks; "unknown" with confidence 0 when fewer than half of the orders equal any
// known schedule's. Of equally good names the simplest: gpipe, 1f1b, interleaved, folded.
[[nodiscard]] std::optional<trace::RecognisedSchedule> recogniseSchedule(
    const base::IdVector<trace::RankTag, trace::Rank>& ranks,
    const base::IdVector<trace::TaskTag, trace::Task>& tasks);

}  // namespace pleat::annotate
