// Diagnostics as a table: what was repaired, dropped, guessed. Pure.
#pragma once

#include "base/diagnostics.h"
#include "models/figure_model.h"

namespace pleat::models {

// Severity, code, count, example; the worst first.
[[nodiscard]] Figures diagnosticFigures(const base::Diagnostics& diagnostics);

}  // namespace pleat::models
