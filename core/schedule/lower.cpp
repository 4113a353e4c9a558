#include "schedule/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "schedule/in_order_run.h"
#include "schedule/validate.h"

namespace pleat::schedule {
namespace {

// The message an action hands to another rank, if it does: SEND on its own rank, RECV on the other.
struct Message {
    Action send, receive;
    std::int32_t receiver;
};

std::optional<Message> messageOf(const Action& action, const Placement& placement) {
    const bool forward = action.kind == ActionKind::Forward;
    if (!forward && action.kind != ActionKind::FullBackward &&
        action.kind != ActionKind::InputBackward)
        return {};
    const std::int32_t other = action.stage + (forward ? 1 : -1);
    if (other < 0 || other >= placement.stages() ||
        placement.rankOf(other) == placement.rankOf(action.stage))
        return {};
    const ActionKind sent = forward ? ActionKind::SendForward : ActionKind::SendBackward;
    const ActionKind received = forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward;
    return Message{{action.stage, sent, action.microbatch, {}},
                   {other, received, action.microbatch, {}},
                   placement.rankOf(other)};
}

}  // namespace

base::Result<Schedule> lower(const Schedule& schedule) {
    const base::Result<ActionIndex> index = validatedIndex(schedule);
    if (!index) return index.error();
    if (index->hasCommunication()) return schedule;

    // Taken at the step it starts, or, for the messages it sends, at the step it ends, before what
    // starts then. Every list is filled in the order of one run that works, so the result cannot
    // have a cycle.
    struct Moment {
        std::int64_t step;
        bool starts;  // false sorts first
        Position position;
    };
    const InOrderRun run = runInOrder(schedule, *index);
    std::vector<Moment> moments;
    for (const Position position : run.order) {
        const auto rank = static_cast<std::size_t>(position.rank),
                   i = static_cast<std::size_t>(position.index);
        moments.push_back({run.start[rank][i], true, position});
        if (isCompute(schedule.order[rank][i].kind))
            moments.push_back({run.start[rank][i] + 1, false, position});
    }
    std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
        return std::tie(a.step, a.starts) < std::tie(b.step, b.starts);
    });

    Schedule lowered = schedule;
    for (auto& order : lowered.order) order.clear();
    for (const Moment& moment : moments) {
        const auto rank = static_cast<std::size_t>(moment.position.rank);
        const Action& action =
            schedule.order[rank][static_cast<std::size_t>(moment.position.index)];
        if (moment.starts) {
            lowered.order[rank].push_back(action);
            continue;
        }
        const std::vector<Action> own(1, action);
        for (const Action& part : action.parts.empty() ? own : action.parts) {
            const std::optional<Message> message = messageOf(part, schedule.placement);
            if (!message) continue;
            lowered.order[rank].push_back(message->send);
            lowered.order[static_cast<std::size_t>(message->receiver)].push_back(message->receive);
        }
    }
    return lowered;
}

}  // namespace pleat::schedule
