// The dependency rule of a pipeline schedule, written once: validation, the runtime's engine, the
// simulator and the critical path all ask here what an action has to wait for.
#pragma once

#include <functional>

#include "schedule/action.h"
#include "schedule/placement.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

// What the rule needs to know of a schedule. `isSplit` says whether it has separate I and W for a
// stage and microbatch.
struct DependencyContext {
    const Placement& placement;
    std::int32_t microbatches = 0;
    bool withCommunication =
        true;  // false: compute-only schedules, F needs F(s-1,m) wherever it lies
    std::function<bool(std::int32_t stage, std::int32_t microbatch)> isSplit;  // empty: never
};

namespace detail {

inline Action action(std::int32_t stage, ActionKind kind, std::int32_t microbatch) {
    return {stage, kind, microbatch, {}};
}

// The action that produces the gradient stage `stage` hands to the stage before it.
inline Action inputGradient(const DependencyContext& context, std::int32_t stage,
                            std::int32_t microbatch) {
    const bool split = context.isSplit && context.isSplit(stage, microbatch);
    return action(stage, split ? ActionKind::InputBackward : ActionKind::FullBackward, microbatch);
}

inline bool crossesRanks(const DependencyContext& context, std::int32_t stage,
                         std::int32_t otherStage) {
    return context.withCommunication &&
           context.placement.rankOf(stage) != context.placement.rankOf(otherStage);
}

template <class Visit>
void visitForward(const Action& forward, const DependencyContext& context, Visit& visit) {
    if (forward.stage == 0) return;
    const bool remote = crossesRanks(context, forward.stage, forward.stage - 1);
    visit(remote ? action(forward.stage, ActionKind::ReceiveForward, forward.microbatch)
                 : action(forward.stage - 1, ActionKind::Forward, forward.microbatch));
}

template <class Visit>
void visitBackward(const Action& backward, const DependencyContext& context, Visit& visit) {
    visit(action(backward.stage, ActionKind::Forward, backward.microbatch));
    if (backward.stage + 1 == context.placement.stages()) return;
    const bool remote = crossesRanks(context, backward.stage, backward.stage + 1);
    visit(remote ? action(backward.stage, ActionKind::ReceiveBackward, backward.microbatch)
                 : inputGradient(context, backward.stage + 1, backward.microbatch));
}

template <class Visit>
void visitReduce(const Action& reduce, const DependencyContext& context, Visit& visit) {
    for (std::int32_t microbatch = 0; microbatch < context.microbatches; ++microbatch) {
        const bool split = context.isSplit && context.isSplit(reduce.stage, microbatch);
        visit(action(reduce.stage, split ? ActionKind::WeightBackward : ActionKind::FullBackward,
                     microbatch));
    }
}

}  // namespace detail

// Calls visit(needed) for every action that must be complete before `action` may start, order on a
// rank apart:
//   F(s,m)       needs RECV_F(s,m) when stage s-1 lies on another rank, else F(s-1,m)
//   B,I(s,m)     needs F(s,m), and RECV_B(s,m) when stage s+1 lies on another rank, else
//                B or I(s+1,m)
//   W(s,m)       needs I(s,m)
//   SEND_F(s,m)  needs F(s,m);        RECV_F(s,m) needs SEND_F(s-1,m)
//   SEND_B(s,m)  needs B or I(s,m);   RECV_B(s,m) needs SEND_B(s+1,m)
//   REDUCE_GRAD(s) needs every B or W(s,*)
//   OVERLAP_F_B  needs what its parts need
//
// SEND_F(s,m) is sent by stage s; RECV_F(s,m) is received by stage s.
template <class Visit>
void forEachDependency(const Action& of, const DependencyContext& context, Visit&& visit) {
    switch (of.kind) {
        case ActionKind::Forward:
            return detail::visitForward(of, context, visit);
        case ActionKind::FullBackward:
        case ActionKind::InputBackward:
            return detail::visitBackward(of, context, visit);
        case ActionKind::WeightBackward:
            return visit(detail::action(of.stage, ActionKind::InputBackward, of.microbatch));
        case ActionKind::SendForward:
            return visit(detail::action(of.stage, ActionKind::Forward, of.microbatch));
        case ActionKind::ReceiveForward:
            if (of.stage > 0)
                visit(detail::action(of.stage - 1, ActionKind::SendForward, of.microbatch));
            return;
        case ActionKind::SendBackward:
            return visit(detail::inputGradient(context, of.stage, of.microbatch));
        case ActionKind::ReceiveBackward:
            if (of.stage + 1 < context.placement.stages()) {
                visit(detail::action(of.stage + 1, ActionKind::SendBackward, of.microbatch));
            }
            return;
        case ActionKind::ReduceGradient:
            return detail::visitReduce(of, context, visit);
        case ActionKind::Unshard:
        case ActionKind::Reshard:
            return;
        case ActionKind::OverlapForwardBackward:
            for (const Action& part : of.parts) forEachDependency(part, context, visit);
            return;
    }
}

}  // namespace pleat::schedule
