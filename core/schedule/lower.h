// Inserts communication into a compute-only schedule: after each F whose next stage lies on another
// rank a SEND_F on its rank and, at that moment of an in-order run, the matching RECV_F on the
// peer's rank; the same backwards. A hop between two stages of one rank stays local. Schedules that
// already have communication come back unchanged.
#pragma once

#include "base/result.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

[[nodiscard]] base::Result<Schedule> lower(const Schedule& computeOnly);

}  // namespace pleat::schedule
