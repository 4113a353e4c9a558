// Two runs side by side as tables, the figures of `pleat diff`: what the window shows is BASE.
// Pure.
#pragma once

#include "analysis/compare.h"
#include "models/figure_model.h"

namespace pleat::models {

// The answer in a sentence or two: is NEW faster than BASE, and why.
[[nodiscard]] QString comparisonAnswer(const analysis::Comparison& comparison);
// The mean iteration of both and the parts it is made of: BASE, NEW, difference, share of BASE's
// iteration. The differences of the parts sum to that of the iteration. Every figure leads to
// `iteration`, a place in BASE.
[[nodiscard]] Figures meanFigures(const analysis::Comparison& comparison, const Place& iteration);
// Every row that was compared, from the iteration down to kernels: verdict, medians, difference
// and its 95 % interval. Rows of a rank lead to that rank.
[[nodiscard]] Figures comparedFigures(const analysis::Comparison& comparison,
                                      const Place& iteration);

}  // namespace pleat::models
