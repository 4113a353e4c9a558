// Two runs side by side as a table: the mean iteration of each and the parts it is made of, so that
// the differences of the parts sum to that of the iteration. Pure.
#pragma once

#include "models/figure_model.h"
#include "models/trace_session.h"

namespace pleat::models {

// Mean over the ranks of the mean iteration, compute, moving, waiting, copy, and the bubble by
// cause: base, other, difference, share of the base iteration.
[[nodiscard]] Figures compareFigures(const RunResults& base, const RunResults& other);

}  // namespace pleat::models
