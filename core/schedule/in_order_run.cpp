#include "schedule/in_order_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace pleat::schedule {
namespace {

// F, B, I and W come first in ActionKind, the four SEND and RECV kinds next.
constexpr std::size_t kComputeKinds = static_cast<std::size_t>(ActionKind::WeightBackward) + 1;
constexpr std::size_t kKinds = static_cast<std::size_t>(ActionKind::ReceiveBackward) + 1;

std::size_t at(std::int32_t value) { return static_cast<std::size_t>(value); }

}  // namespace

base::Result<ActionIndex> ActionIndex::build(const Schedule& schedule) {
    ActionIndex index;
    for (const auto& order : schedule.order) {
        index.m_hasCommunication =
            index.m_hasCommunication ||
            std::any_of(order.begin(), order.end(),
                        [](const Action& action) { return isCommunication(action.kind); });
    }
    index.m_kinds = index.m_hasCommunication ? kKinds : kComputeKinds;
    index.m_microbatches = schedule.microbatches;
    const std::size_t stages = at(schedule.placement.stages());
    index.m_firstReduction = stages * index.m_kinds * at(schedule.microbatches);
    index.m_positions.assign(index.m_firstReduction + stages, Position{-1, 0});
    for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
        const std::vector<Action>& order = schedule.order[at(rank)];
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(order.size()); ++i) {
            const Action& action = order[at(i)];
            bool fresh = true;
            for (const Action& part : action.parts) fresh = index.add(part, {rank, i}) && fresh;
            if (action.parts.empty()) fresh = index.add(action, {rank, i});
            if (!fresh) {
                return base::Error{base::ErrorCode::Input,
                                   fmt::format("rank {}, position {}: duplicate action {}", rank, i,
                                               toString(action))};
            }
        }
    }
    return index;
}

bool ActionIndex::add(const Action& action, Position position) {
    const std::size_t place = slot(action);
    if (place == kNoSlot) return true;
    if (m_positions[place].rank >= 0) return false;
    m_positions[place] = position;
    return true;
}

bool ActionIndex::isSplit(std::int32_t stage, std::int32_t microbatch) const {
    return find({stage, ActionKind::InputBackward, microbatch, {}}).has_value();
}

DependencyContext ActionIndex::context(const Schedule& schedule) const {
    return {
        schedule.placement, schedule.microbatches, m_hasCommunication,
        [this](std::int32_t stage, std::int32_t microbatch) { return isSplit(stage, microbatch); }};
}

InOrderRun runInOrder(const Schedule& schedule, const ActionIndex& index) {
    const DependencyContext context = index.context(schedule);
    InOrderRun run;
    std::size_t actions = 0;
    for (const auto& order : schedule.order) {
        run.start.emplace_back(order.size(), -1);
        actions += order.size();
    }
    run.order.reserve(actions);
    // Communication runs beside the compute of its rank; only compute takes a step.
    const auto stepsOf = [&](Position position) {
        const Action& action = schedule.order[at(position.rank)][at(position.index)];
        return isCompute(action.kind) ? 1 : 0;
    };
    std::vector<std::int32_t> next(schedule.order.size(), 0);
    std::vector<std::int64_t> free(schedule.order.size(), 0);

    // When the next action of a rank can start; -1 while something it needs has not run.
    const auto earliestStart = [&](std::int32_t rank) {
        std::int64_t start = free[at(rank)];
        const Action& action = schedule.order[at(rank)][at(next[at(rank)])];
        forEachDependency(action, context, [&](const Action& needed) {
            const std::optional<Position> position = index.find(needed);
            // Both parts of one OVERLAP_F_B run together; neither waits for the other.
            if (position == Position{rank, next[at(rank)]} && !action.parts.empty()) return;
            const std::int64_t began =
                position ? run.start[at(position->rank)][at(position->index)] : -1;
            const std::int64_t end = began < 0 ? -1 : began + stepsOf(*position);
            start = end < 0 || start < 0 ? -1 : std::max(start, end);
        });
        return start;
    };

    for (bool progress = true; progress;) {
        progress = false;
        for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
            const std::vector<Action>& order = schedule.order[at(rank)];
            for (; at(next[at(rank)]) < order.size(); ++next[at(rank)], progress = true) {
                const std::int64_t start = earliestStart(rank);
                if (start < 0) break;
                const std::size_t i = at(next[at(rank)]);
                run.start[at(rank)][i] = start;
                if (isCompute(order[i].kind)) free[at(rank)] = start + 1;
                run.order.push_back({rank, next[at(rank)]});
            }
        }
    }
    for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
        if (at(next[at(rank)]) < schedule.order[at(rank)].size())
            run.stuck.push_back({rank, next[at(rank)]});
    }
    return run;
}

}  // namespace pleat::schedule
