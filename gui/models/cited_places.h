// Where in a trace the examples of diagnostics are. An example says it in words, which every part
// that writes one keeps to: an event's name in quotes, "rank 3", "iteration 5", a start as "1500
// ns". What names an event leads to it; else its iteration or rank. Pure function.
#pragma once

#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "models/place.h"
#include "trace/trace.h"

namespace pleat::models {

// One for each diagnostic, empty where its example is nowhere in the trace. Of several events with
// the name the first that starts when the example says, else the first of the rank it says, else
// the first. One pass over the events' names.
[[nodiscard]] std::vector<Place> citedPlaces(const trace::Trace& trace,
                                             std::span<const base::Diagnostic> diagnostics);

}  // namespace pleat::models
