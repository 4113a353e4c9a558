#include "schedule/dependencies.h"

namespace pleat::schedule {
namespace {

using Visit = std::function<void(const Action&)>;

Action action(std::int32_t stage, ActionKind kind, std::int32_t microbatch) {
    return {stage, kind, microbatch, {}};
}

// The action that produces the gradient stage `stage` hands to the stage before it.
Action inputGradient(const DependencyContext& context, std::int32_t stage,
                     std::int32_t microbatch) {
    const bool split = context.isSplit && context.isSplit(stage, microbatch);
    return action(stage, split ? ActionKind::InputBackward : ActionKind::FullBackward, microbatch);
}

bool crossesRanks(const DependencyContext& context, std::int32_t stage, std::int32_t otherStage) {
    return context.withCommunication &&
           context.placement.rankOf(stage) != context.placement.rankOf(otherStage);
}

void visitForward(const Action& forward, const DependencyContext& context, const Visit& visit) {
    if (forward.stage == 0) return;
    const bool remote = crossesRanks(context, forward.stage, forward.stage - 1);
    visit(remote ? action(forward.stage, ActionKind::ReceiveForward, forward.microbatch)
                 : action(forward.stage - 1, ActionKind::Forward, forward.microbatch));
}

void visitBackward(const Action& backward, const DependencyContext& context, const Visit& visit) {
    visit(action(backward.stage, ActionKind::Forward, backward.microbatch));
    if (backward.stage + 1 == context.placement.stages()) return;
    const bool remote = crossesRanks(context, backward.stage, backward.stage + 1);
    visit(remote ? action(backward.stage, ActionKind::ReceiveBackward, backward.microbatch)
                 : inputGradient(context, backward.stage + 1, backward.microbatch));
}

void visitReduce(const Action& reduce, const DependencyContext& context, const Visit& visit) {
    for (std::int32_t microbatch = 0; microbatch < context.microbatches; ++microbatch) {
        const bool split = context.isSplit && context.isSplit(reduce.stage, microbatch);
        visit(action(reduce.stage, split ? ActionKind::WeightBackward : ActionKind::FullBackward,
                     microbatch));
    }
}

}  // namespace

void forEachDependency(const Action& of, const DependencyContext& context, const Visit& visit) {
    switch (of.kind) {
        case ActionKind::Forward:
            return visitForward(of, context, visit);
        case ActionKind::FullBackward:
        case ActionKind::InputBackward:
            return visitBackward(of, context, visit);
        case ActionKind::WeightBackward:
            return visit(action(of.stage, ActionKind::InputBackward, of.microbatch));
        case ActionKind::SendForward:
            return visit(action(of.stage, ActionKind::Forward, of.microbatch));
        case ActionKind::ReceiveForward:
            if (of.stage > 0) visit(action(of.stage - 1, ActionKind::SendForward, of.microbatch));
            return;
        case ActionKind::SendBackward:
            return visit(inputGradient(context, of.stage, of.microbatch));
        case ActionKind::ReceiveBackward:
            if (of.stage + 1 < context.placement.stages()) {
                visit(action(of.stage + 1, ActionKind::SendBackward, of.microbatch));
            }
            return;
        case ActionKind::ReduceGradient:
            return visitReduce(of, context, visit);
        case ActionKind::Unshard:
        case ActionKind::Reshard:
            return;
        case ActionKind::OverlapForwardBackward:
            for (const Action& part : of.parts) forEachDependency(part, context, visit);
            return;
    }
}

}  // namespace pleat::schedule
