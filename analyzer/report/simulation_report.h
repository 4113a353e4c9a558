// A simulated schedule as text: its makespan, its bubble and a row per rank. Renders only. Pure.
#pragma once

#include <string>

#include "graph/simulate.h"
#include "schedule/schedule.h"

namespace pleat::report {

[[nodiscard]] std::string renderText(const schedule::Schedule& schedule,
                                     const graph::Simulation& simulation);

}  // namespace pleat::report
