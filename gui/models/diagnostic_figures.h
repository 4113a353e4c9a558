// Diagnostics as a table: what was repaired, dropped, guessed. Pure.
#pragma once

#include "base/diagnostics.h"
#include "models/figure_model.h"
#include "trace/trace.h"

namespace pleat::models {

// Severity, code, count, example; the worst first. With a trace, examples lead to where they are.
[[nodiscard]] Figures diagnosticFigures(const base::Diagnostics& diagnostics,
                                        const trace::Trace* trace);

}  // namespace pleat::models
