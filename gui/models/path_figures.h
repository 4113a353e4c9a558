// The critical path of the chosen iteration as tables: what it is made of, and its pieces in order.
// Pure.
#pragma once

#include "models/figure_model.h"
#include "models/iteration_model.h"

namespace pleat::models {

// By kind, then by rank: time and share of the iteration.
[[nodiscard]] Figures pathAttribution(const IterationResults& iteration);
// A row per piece; each leads to its event, a pause to its time.
[[nodiscard]] Figures pathPieces(const IterationResults& iteration);

// What is known of a piece that is no event.
[[nodiscard]] Figures pauseFacts(const Place& pause);

}  // namespace pleat::models
