#include "instrumented_runtime/layout.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace pleat::runtime {

std::optional<std::int32_t> Group::indexOf(std::int32_t rank) const {
    const auto found = std::find(members.begin(), members.end(), rank);
    if (found == members.end()) return std::nullopt;
    return static_cast<std::int32_t>(found - members.begin());
}

void Layout::addLinks(const schedule::Placement& placement, std::vector<Group>& groups) const {
    std::set<std::tuple<std::int32_t, std::int32_t, GroupKind>> links;  // sender, receiver
    for (std::int32_t stage = 0; stage + 1 < placement.stages(); ++stage) {
        const std::int32_t from = placement.rankOf(stage);
        const std::int32_t to = placement.rankOf(stage + 1);
        if (from == to) continue;
        links.emplace(from, to, GroupKind::ForwardLink);
        links.emplace(to, from, GroupKind::BackwardLink);
    }
    for (std::int32_t dp = 0; dp < m_replicas; ++dp) {
        for (const auto& [from, to, kind] : links) {
            groups.push_back({static_cast<std::int32_t>(groups.size()),
                              kind,
                              {rankAt({dp, from}), rankAt({dp, to})}});
        }
    }
}

std::vector<Group> Layout::groups(const schedule::Placement& placement, bool tiedHead) const {
    std::vector<Group> groups;
    addLinks(placement, groups);
    for (std::int32_t pp = 0; pp < m_pipelineRanks && m_replicas > 1; ++pp) {
        Group group{static_cast<std::int32_t>(groups.size()), GroupKind::DataParallel, {}};
        for (std::int32_t dp = 0; dp < m_replicas; ++dp) group.members.push_back(rankAt({dp, pp}));
        groups.push_back(std::move(group));
    }
    const std::int32_t first = placement.rankOf(0);
    const std::int32_t last = placement.rankOf(placement.stages() - 1);
    for (std::int32_t dp = 0; dp < m_replicas && tiedHead && first != last; ++dp) {
        groups.push_back({static_cast<std::int32_t>(groups.size()),
                          GroupKind::TiedEmbedding,
                          {rankAt({dp, first}), rankAt({dp, last})}});
    }
    return groups;
}

}  // namespace pleat::runtime
