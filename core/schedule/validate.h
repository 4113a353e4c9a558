// Is a schedule one that can run? Every stage on one rank, F before B or I, I before W, every
// microbatch passes every stage once each way, sends match receives in order per link, and no cycle
// of waits.
#pragma once

#include <string>

#include "base/result.h"
#include "schedule/in_order_run.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

// Input error whose message is one line: rank, position, cell and what is wrong. Compute-only
// schedules and schedules with communication are both accepted.
[[nodiscard]] base::Result<void> validate(const Schedule& schedule);

// The same, and where each action of the valid schedule stands.
[[nodiscard]] base::Result<ActionIndex> validatedIndex(const Schedule& schedule);

// The schedule as a grid, a row per pipeline rank and a column per unit time step (each compute
// action one step, waits empty), as in the papers. An invalid schedule is drawn as far as it runs,
// with the first stuck cell of each rank marked "!".
[[nodiscard]] std::string drawGrid(const Schedule& schedule);

}  // namespace pleat::schedule
