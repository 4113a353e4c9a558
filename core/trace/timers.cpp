#include "trace/timers.h"

#include <algorithm>
#include <array>

namespace pleat::trace {
namespace {

using schedule::ActionKind;
using Role = TimerRole;
using Group = TimerGroup;

constexpr std::array<Timer, 13> kTimers = {{
    {kForwardCompute, Role::Task, Group::Alone, ActionKind::Forward},
    {kBackwardCompute, Role::Task, Group::Alone, ActionKind::FullBackward},
    {kForwardSend, Role::Message, Group::Message, ActionKind::SendForward, Operation::Send,
     Dimension::Pp},
    {kForwardReceive, Role::Message, Group::Message, ActionKind::ReceiveForward, Operation::Receive,
     Dimension::Pp},
    {kBackwardSend, Role::Message, Group::Message, ActionKind::SendBackward, Operation::Send,
     Dimension::Pp},
    {kBackwardReceive, Role::Message, Group::Message, ActionKind::ReceiveBackward,
     Operation::Receive, Dimension::Pp},
    {kAllGather, Role::Collective, Group::Stage, ActionKind::Unshard, Operation::AllGather,
     Dimension::Dp},
    {kReduceScatter, Role::Collective, Group::Stage, ActionKind::ReduceGradient,
     Operation::ReduceScatter, Dimension::Dp},
    // Between tensor-parallel ranks, which these timelines do not tell apart.
    {kLayernorm, Role::Collective, Group::Alone, ActionKind::ReduceGradient, Operation::AllReduce,
     Dimension::Tp},
    {kEmbedding, Role::Collective, Group::Embedding, ActionKind::ReduceGradient,
     Operation::AllReduce, Dimension::Other},
    // Every rank adds its part of the gradient's norm.
    {kClip, Role::Collective, Group::Everybody, ActionKind::ReduceGradient, Operation::AllReduce,
     Dimension::Other},
    {kOptimizer, Role::Phase},
    {kCollection, Role::Stall},
}};

}  // namespace

const Timer* timerNamed(std::string_view name) {
    const auto* const found = std::find_if(kTimers.begin(), kTimers.end(),
                                           [&](const Timer& timer) { return timer.name == name; });
    return found == kTimers.end() ? nullptr : found;
}

}  // namespace pleat::trace
