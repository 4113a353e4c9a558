#include "schedule/placement.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace pleat::schedule {

Placement::Placement(std::int32_t ranks, std::vector<std::int32_t> rankOfStage)
    : m_rankOfStage(std::move(rankOfStage)), m_stagesOfRank(static_cast<std::size_t>(ranks)) {
    for (std::int32_t stage = 0; stage < stages(); ++stage) {
        assert(rankOf(stage) >= 0 && rankOf(stage) < ranks);
        m_stagesOfRank[static_cast<std::size_t>(rankOf(stage))].push_back(stage);
    }
}

Placement Placement::looped(std::int32_t ranks, std::int32_t chunks) {
    std::vector<std::int32_t> rankOfStage;
    for (std::int32_t stage = 0; stage < ranks * chunks; ++stage)
        rankOfStage.push_back(stage % ranks);
    return {ranks, std::move(rankOfStage)};
}

Placement Placement::vShaped(std::int32_t ranks) {
    std::vector<std::int32_t> rankOfStage;
    for (std::int32_t rank = 0; rank < ranks; ++rank) rankOfStage.push_back(rank);
    for (std::int32_t rank = ranks - 1; rank >= 0; --rank) rankOfStage.push_back(rank);
    return {ranks, std::move(rankOfStage)};
}

std::int32_t Placement::chunkOf(std::int32_t stage) const {
    const auto held = stagesOf(rankOf(stage));
    return static_cast<std::int32_t>(std::find(held.begin(), held.end(), stage) - held.begin());
}

}  // namespace pleat::schedule
