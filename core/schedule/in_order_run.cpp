#include "schedule/in_order_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace pleat::schedule {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(ActionKind::OverlapForwardBackward) + 1;

std::size_t at(std::int32_t value) { return static_cast<std::size_t>(value); }

}  // namespace

base::Result<ActionIndex> ActionIndex::build(const Schedule& schedule) {
    ActionIndex index;
    index.m_stages = schedule.placement.stages();
    index.m_microbatches = schedule.microbatches;
    index.m_positions.assign(at(index.m_stages) * kKinds * (at(index.m_microbatches) + 1),
                             Position{-1, 0});
    for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank) {
        const std::vector<Action>& order = schedule.order[at(rank)];
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(order.size()); ++i) {
            const Action& action = order[at(i)];
            bool fresh = true;
            for (const Action& part : action.parts) fresh = index.add(part, {rank, i}) && fresh;
            if (action.parts.empty()) fresh = index.add(action, {rank, i});
            if (!fresh) {
                return base::Error{base::ErrorCode::Input,
                                   fmt::format("rank {}, position {}: {} stands twice", rank, i,
                                               toString(action))};
            }
        }
    }
    return index;
}

// UNSHARD and RESHARD may recur, so they are not indexed.
bool ActionIndex::add(const Action& action, Position position) {
    if (action.kind == ActionKind::Unshard || action.kind == ActionKind::Reshard) return true;
    m_hasCommunication = m_hasCommunication || isCommunication(action.kind);
    Position& known = m_positions[slot(action)];
    if (known.rank >= 0) return false;
    known = position;
    return true;
}

std::size_t ActionIndex::slot(const Action& action) const {
    return (at(action.stage) * kKinds + static_cast<std::size_t>(action.kind)) *
               (at(m_microbatches) + 1) +
           at(action.microbatch + 1);
}

std::optional<Position> ActionIndex::find(const Action& action) const {
    const Position known = m_positions[slot(action)];
    return known.rank < 0 ? std::nullopt : std::optional(known);
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
    std::vector<std::vector<std::int64_t>> finish;
    for (const auto& order : schedule.order) finish.emplace_back(order.size(), -1);
    run.start = finish;
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
            const std::int64_t end =
                position ? finish[at(position->rank)][at(position->index)] : -1;
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
                // Communication runs beside the compute of its rank; only compute occupies it.
                const bool compute = isCompute(order[i].kind);
                finish[at(rank)][i] = start + (compute ? 1 : 0);
                if (compute) free[at(rank)] = start + 1;
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
