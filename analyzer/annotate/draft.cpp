#include "annotate/draft.h"

#include <algorithm>
#include <tuple>

namespace pleat::annotate {
namespace {

template <class Items>
void sortByRankAndStart(Items& items) {
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
        return std::tie(a.rank, a.span.begin, a.event) < std::tie(b.rank, b.span.begin, b.event);
    });
}

}  // namespace

void Draft::sort() {
    sortByRankAndStart(found.tasks);
    sortByRankAndStart(found.transfers);
    sortByRankAndStart(found.phases);
    sortByRankAndStart(found.iterations);
    sortByRankAndStart(enclosing);
}

trace::GroupId NamedGroups::join(const std::string& name, trace::Dimension dimension,
                                 std::int32_t size, trace::RankId member) {
    auto& groups = m_draft.found.groups;
    const auto [known, isNew] = m_groups.try_emplace(name);
    if (isNew) {
        for (; m_counted < groups.size(); ++m_counted)
            m_next = std::max(m_next, groups[trace::GroupId::at(m_counted)].nativeId + 1);
        known->second = groups.push({m_next, dimension, size, {}});
    }
    trace::ProcessGroup& group = groups[known->second];
    if (group.members.empty() || group.members.back() != member) group.members.push_back(member);
    return known->second;
}

void NamedGroups::finish() {
    for (const auto& [name, id] : m_groups) {
        auto& members = m_draft.found.groups[id].members;
        std::sort(members.begin(), members.end());
        members.erase(std::unique(members.begin(), members.end()), members.end());
    }
}

}  // namespace pleat::annotate
