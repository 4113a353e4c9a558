// Where a rank stands and whom it talks to: coordinates, and every communication group of the run
// with an id that all ranks compute alike. Global rank = dp * pipelineRanks + pp, so the ranks of
// one pipeline are neighbours. Plain data and pure functions.
//
// Groups, in ascending id, which is also the order in which ranks join them (one order for all:
// joining cannot deadlock): per replica the pipeline links, each direction of each pair of ranks
// and kind of message a group of two; per pipeline rank a data-parallel group; per replica the pair
// that shares a tied embedding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace pleat::runtime {

struct Coordinates {
    std::int32_t dp = 0;
    std::int32_t pp = 0;
    friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

enum class GroupKind : std::uint8_t { ForwardLink, BackwardLink, DataParallel, TiedEmbedding };

struct Group {
    std::int32_t id = 0;
    GroupKind kind = GroupKind::DataParallel;
    std::vector<std::int32_t> members;  // global ranks; of a link the sender, then the receiver

    // Position of a global rank among the members; nothing for a rank outside.
    [[nodiscard]] std::optional<std::int32_t> indexOf(std::int32_t rank) const;
    [[nodiscard]] const char* dimension() const {
        return kind == GroupKind::DataParallel ? "dp" : "pp";
    }
    friend bool operator==(const Group&, const Group&) = default;
};

class Layout {
  public:
    Layout(std::int32_t replicas, std::int32_t pipelineRanks)
        : m_replicas(replicas), m_pipelineRanks(pipelineRanks) {}

    [[nodiscard]] std::int32_t worldSize() const { return m_replicas * m_pipelineRanks; }
    [[nodiscard]] std::int32_t replicas() const { return m_replicas; }
    [[nodiscard]] Coordinates coordinatesOf(std::int32_t rank) const {
        return {rank / m_pipelineRanks, rank % m_pipelineRanks};
    }
    [[nodiscard]] std::int32_t rankAt(Coordinates at) const {
        return at.dp * m_pipelineRanks + at.pp;
    }

    // All groups of the run; groups of one member are left out. A tied head needs a group only
    // where the first and the last stage lie on different ranks.
    [[nodiscard]] std::vector<Group> groups(const schedule::Placement& placement,
                                            bool tiedHead) const;

  private:
    void addLinks(const schedule::Placement& placement, std::vector<Group>& groups) const;

    std::int32_t m_replicas;
    std::int32_t m_pipelineRanks;
};

}  // namespace pleat::runtime
