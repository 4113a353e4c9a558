// One rank's list of compute actions while it is being made, named by chunk rather than by stage.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "schedule/action.h"
#include "schedule/placement.h"

namespace pleat::schedule {

struct ChunkOfMicrobatch {
    std::int32_t chunk;
    std::int32_t microbatch;
};

class RankOrder {
  public:
    // `placement` has to outlive this.
    RankOrder(const Placement& placement, std::int32_t rank) : m_stages(placement.stagesOf(rank)) {}

    void forward(ChunkOfMicrobatch what) { add(ActionKind::Forward, what); }
    void backward(ChunkOfMicrobatch what) { add(ActionKind::FullBackward, what); }
    void inputBackward(ChunkOfMicrobatch what) { add(ActionKind::InputBackward, what); }
    void weightBackward(ChunkOfMicrobatch what) { add(ActionKind::WeightBackward, what); }
    [[nodiscard]] std::vector<Action> take() && { return std::move(m_actions); }

  private:
    void add(ActionKind kind, ChunkOfMicrobatch what) {
        m_actions.push_back(
            {m_stages[static_cast<std::size_t>(what.chunk)], kind, what.microbatch, {}});
    }
    std::span<const std::int32_t> m_stages;
    std::vector<Action> m_actions;
};

}  // namespace pleat::schedule
