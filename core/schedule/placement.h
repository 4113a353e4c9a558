// Which pipeline rank holds which stage. Stage s of S; the chunks of a rank are its stages in
// ascending order, so the k-th chunk (virtual stage) of a rank is well defined for every placement
// with one rank per stage.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pleat::schedule {

// Far above any pipeline; what sizes a table by ranks and stages relies on it.
inline constexpr std::int32_t kMaximumRanks = 1'024;
inline constexpr std::int32_t kMaximumStages = 4'096;

class Placement {
  public:
    Placement() = default;
    // rankOfStage[s] is in [0, ranks).
    Placement(std::int32_t ranks, std::vector<std::int32_t> rankOfStage);

    // Rank r holds stages r, p+r, 2p+r, …; one chunk per rank gives the plain linear pipeline.
    static Placement looped(std::int32_t ranks, std::int32_t chunks);
    // Rank r holds stages r and 2p-1-r.
    static Placement vShaped(std::int32_t ranks);

    [[nodiscard]] std::int32_t ranks() const {
        return static_cast<std::int32_t>(m_stagesOfRank.size());
    }
    [[nodiscard]] std::int32_t stages() const {
        return static_cast<std::int32_t>(m_rankOfStage.size());
    }
    [[nodiscard]] std::int32_t rankOf(std::int32_t stage) const {
        return m_rankOfStage[static_cast<std::size_t>(stage)];
    }
    [[nodiscard]] std::span<const std::int32_t> stagesOf(std::int32_t rank) const {
        return m_stagesOfRank[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] std::int32_t chunkOf(
        std::int32_t stage) const;  // position of the stage among its rank's stages
    friend bool operator==(const Placement&, const Placement&) = default;

  private:
    std::vector<std::int32_t> m_rankOfStage;
    std::vector<std::vector<std::int32_t>> m_stagesOfRank;
};

}  // namespace pleat::schedule
