#include "annotate/draft.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/stretches.h"

namespace pleat::annotate {
namespace {

template <class Items>
void sortByRankAndStart(Items& items) {
    // Readers go through the events of one thread after the other.
    base::sortStretches(std::span(items.begin(), items.end()), [](const auto& a, const auto& b) {
        return std::tie(a.rank, a.span.begin, a.event) < std::tie(b.rank, b.span.begin, b.event);
    });
}

}  // namespace

void Draft::shareAmongDevices() {
    std::map<trace::RankId, std::vector<trace::RankId>> others;  // by the process's first rank
    using Process = std::tuple<std::int32_t, std::string, std::int64_t>;
    std::map<Process, trace::RankId> firsts;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const trace::RankId id = trace::RankId::at(i);
        if (!ranks[id].oneOfSeveralDevices) continue;
        // By the number that was imported: what a mark said of the first is not known of the
        // others.
        const trace::Rank& imported = events.ranks()[id];
        const trace::RankId first =
            firsts.try_emplace({imported.number, imported.host, imported.pid}, id).first->second;
        if (first == id) continue;
        ranks[id].number = ranks[first].number;
        ranks[id].coordinates = ranks[first].coordinates;
        others[first].push_back(id);
    }
    if (others.empty()) return;
    for (auto* spans : {&found.iterations, &enclosing}) {
        for (std::size_t i = 0, count = spans->size(); i < count; ++i) {
            const auto of = others.find((*spans)[i].rank);
            if (of == others.end()) continue;
            for (const trace::RankId id : of->second) {
                trace::IterationSpan copy = (*spans)[i];
                copy.rank = id;
                spans->push_back(copy);
            }
        }
    }
}

void Draft::sort() {
    sortByRankAndStart(found.tasks);
    sortByRankAndStart(found.transfers);
    sortByRankAndStart(found.phases);
    sortByRankAndStart(found.iterations);
    sortByRankAndStart(enclosing);
}

bool Draft::pidsAreRanks(const std::set<trace::RankId>& of) const {
    std::set<std::int64_t> pids;
    for (const trace::RankId id : of) {
        if (ranks[id].number >= 0) return false;
        pids.insert(ranks[id].pid);
    }
    return of.size() > 1 && pids.size() == of.size() && *pids.begin() == 0 &&
           *pids.rbegin() + 1 == static_cast<std::int64_t>(of.size());
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
