// The dependency rule of a pipeline schedule, written once: validation, the runtime's engine, the
// simulator and the critical path all ask here what an action has to wait for.
#pragma once

#include <functional>

#include "schedule/action.h"
#include "schedule/placement.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

// Calls visit(needed) for every action that must be complete before `action` may start, order on a
// rank apart:
//   F(s,m)       needs RECV_F(s,m) when stage s-1 lies on another rank, else F(s-1,m)
//   B,I(s,m)     needs F(s,m), and RECV_B(s,m) when stage s+1 lies on another rank, else B or
//   I(s+1,m) W(s,m)       needs I(s,m) SEND_F(s,m)  needs F(s,m);        RECV_F(s,m) needs
//   SEND_F(s-1,m) SEND_B(s,m)  needs B or I(s,m);   RECV_B(s,m) needs SEND_B(s+1,m) REDUCE_GRAD(s)
//   needs every B or W(s,*) OVERLAP_F_B  needs what its parts need
// `split` says whether the schedule has separate I and W for a stage and microbatch.
// SEND_F(s,m) is sent by stage s; RECV_F(s,m) is received by stage s.
struct DependencyContext {
    const Placement& placement;
    std::int32_t microbatches = 0;
    bool withCommunication =
        true;  // false: compute-only schedules, F needs F(s-1,m) wherever it lies
    std::function<bool(std::int32_t stage, std::int32_t microbatch)> isSplit;  // empty: never
};

void forEachDependency(const Action& action, const DependencyContext& context,
                       const std::function<void(const Action& needed)>& visit);

}  // namespace pleat::schedule
