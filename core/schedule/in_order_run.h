// A schedule run in order with unit costs: every rank takes its actions one after another, each as
// soon as what it depends on is complete; a compute action lasts one step, everything else none.
// Validation, the drawn grid and the insertion of communication all read its result.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "schedule/dependencies.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

struct Position {
    std::int32_t rank = 0;
    std::int32_t index = 0;
    friend bool operator==(const Position&, const Position&) = default;
};

// Where each action stands, parts of OVERLAP_F_B included. Input error when an action stands twice.
class ActionIndex {
  public:
    [[nodiscard]] static base::Result<ActionIndex> build(const Schedule& schedule);

    [[nodiscard]] std::optional<Position> find(const Action& action) const {
        const std::size_t place = slot(action);
        if (place == kNoSlot || m_positions[place].rank < 0) return std::nullopt;
        return m_positions[place];
    }
    [[nodiscard]] bool hasCommunication() const { return m_hasCommunication; }
    // Does the schedule compute input and weight gradients of this microbatch apart?
    [[nodiscard]] bool isSplit(std::int32_t stage, std::int32_t microbatch) const;
    // The dependency rule for this schedule; refers to `schedule` and to this index.
    [[nodiscard]] DependencyContext context(const Schedule& schedule) const;

  private:
    // Where in m_positions the action stands. UNSHARD and RESHARD may recur, so they are not kept.
    static constexpr std::size_t kNoSlot = ~std::size_t{0};
    [[nodiscard]] std::size_t slot(const Action& action) const {
        const auto stage = static_cast<std::size_t>(action.stage);
        if (action.kind == ActionKind::ReduceGradient) return m_firstReduction + stage;
        const auto kind = static_cast<std::size_t>(action.kind);
        if (kind >= m_kinds) return kNoSlot;
        return (stage * m_kinds + kind) * static_cast<std::size_t>(m_microbatches) +
               static_cast<std::size_t>(action.microbatch);
    }
    bool add(const Action& action, Position position);

    std::size_t m_kinds = 0;  // of actions with a microbatch that may occur
    std::int32_t m_microbatches = 0;
    bool m_hasCommunication = false;
    // By stage, kind, microbatch, then REDUCE_GRAD by stage; rank -1: absent.
    std::vector<Position> m_positions;
    std::size_t m_firstReduction = 0;
};

struct InOrderRun {
    std::vector<std::vector<std::int64_t>> start;  // [rank][position] in steps; -1: never reached
    std::vector<Position> order;                   // in the order in which actions were taken
    std::vector<Position> stuck;                   // the first action of each rank that cannot run
};

[[nodiscard]] InOrderRun runInOrder(const Schedule& schedule, const ActionIndex& index);

}  // namespace pleat::schedule
