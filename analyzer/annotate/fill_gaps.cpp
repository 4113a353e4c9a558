#include "annotate/fill_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace pleat::annotate {
namespace {

using schedule::ActionKind;
using trace::RankId;
using StagesOfRank = std::vector<std::vector<std::int32_t>>;  // [RankId index], ascending

// Stages of each process in ascending order, from its tasks and syncs.
StagesOfRank stagesOfRanks(const Draft& draft) {
    std::vector<std::set<std::int32_t>> sets(draft.ranks.size());
    for (const trace::Task& task : draft.found.tasks) sets[task.rank.index()].insert(task.stage);
    StagesOfRank stages;
    for (const auto& set : sets) stages.emplace_back(set.begin(), set.end());
    return stages;
}

void fillRankNumbers(Draft& draft, const StagesOfRank& stages) {
    std::set<RankId> withTasks;
    for (std::size_t i = 0; i < stages.size(); ++i)
        if (!stages[i].empty()) withTasks.insert(RankId::at(i));
    const bool byPid = draft.pidsAreRanks(withTasks);
    std::set<std::int32_t> taken;
    for (const trace::Rank& rank : draft.ranks) taken.insert(rank.number);
    std::int32_t next = 0;
    for (std::size_t i = 0; i < draft.ranks.size(); ++i) {
        trace::Rank& rank = draft.ranks[RankId::at(i)];
        if (rank.number >= 0 || stages[i].empty()) continue;
        if (byPid) {
            rank.number = static_cast<std::int32_t>(rank.pid);
        } else {
            while (!taken.insert(next).second) ++next;
            rank.number = next;
        }
        draft.diagnostics.add(
            "rank_guessed",
            fmt::format("process {}{}{} does not give its rank; taken as {}", rank.pid,
                        rank.host.empty() ? "" : " on ", rank.host, rank.number));
    }
}

// By RankId: the rank's place in its tensor-parallel group, -1 where it is in none.
std::vector<std::int32_t> placesInTensorGroups(const Draft& draft) {
    std::vector<std::int32_t> places(draft.ranks.size(), -1);
    for (const trace::ProcessGroup& group : draft.found.groups) {
        if (group.dimension != trace::Dimension::Tp || group.members.size() < 2) continue;
        std::vector<RankId> members = group.members;
        std::sort(members.begin(), members.end(), [&](RankId a, RankId b) {
            return draft.ranks[a].number < draft.ranks[b].number;
        });
        for (std::size_t i = 0; i < members.size(); ++i)
            places[members[i].index()] = static_cast<std::int32_t>(i);
    }
    return places;
}

// Ranks with the same first stage are replicas of one pipeline rank; those of one tensor-parallel
// group are one replica.
void fillCoordinates(Draft& draft, const StagesOfRank& stages) {
    const std::vector<std::int32_t> tensorPlace = placesInTensorGroups(draft);
    std::map<std::int32_t, std::vector<std::pair<std::int32_t, RankId>>> byFirstStage;
    for (std::size_t i = 0; i < draft.ranks.size(); ++i) {
        const RankId id = RankId::at(i);
        if (stages[i].empty() || draft.ranks[id].coordinates.pp >= 0) continue;
        byFirstStage[stages[i].front()].emplace_back(draft.ranks[id].number, id);
    }
    std::int32_t pipelineRank = 0;
    for (auto& [stage, replicas] : byFirstStage) {
        std::sort(replicas.begin(), replicas.end());
        std::map<std::int32_t, std::int32_t> replica;  // by place in the tensor-parallel group
        for (const auto& [number, id] : replicas) {
            trace::Coordinates& at = draft.ranks[id].coordinates;
            at.pp = pipelineRank;
            if (at.tp < 0) at.tp = tensorPlace[id.index()];
            const std::int32_t next = replica[at.tp]++;
            if (at.dp < 0) at.dp = next;
            draft.diagnostics.add("coordinates_guessed",
                                  fmt::format("rank {} does not give its position; taken as dp {}, "
                                              "pp {}, because it runs stage {}",
                                              number, at.dp, at.pp, stage));
        }
        ++pipelineRank;
    }
}

template <class Item>
void fillChunk(Item& item, const StagesOfRank& stages) {
    if (item.chunk >= 0 || item.stage < 0) return;
    const auto& mine = stages[item.rank.index()];
    const auto found = std::lower_bound(mine.begin(), mine.end(), item.stage);
    if (found != mine.end() && *found == item.stage) {
        item.chunk = static_cast<std::int32_t>(found - mine.begin());
    }
}

// Without a recorded peer a message goes to where the neighbouring stage runs in the same replica.
void fillPeers(Draft& draft, const StagesOfRank& stages) {
    const auto replica = [&](RankId rank, std::int32_t stage) {
        const trace::Coordinates& at = draft.ranks[rank].coordinates;
        return std::tuple(at.dp, at.tp, at.ep, at.cp, stage);
    };
    std::map<decltype(replica({}, 0)), std::int32_t> holder;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        for (const std::int32_t stage : stages[i]) {
            holder[replica(RankId::at(i), stage)] = draft.ranks[RankId::at(i)].number;
        }
    }
    for (trace::Transfer& transfer : draft.found.transfers) {
        if (transfer.peer >= 0 || !transfer.action || !isCommunication(*transfer.action)) continue;
        const bool onwards = transfer.action == ActionKind::SendForward ||
                             transfer.action == ActionKind::ReceiveBackward;
        const auto found = holder.find(replica(transfer.rank, transfer.stage + (onwards ? 1 : -1)));
        if (found != holder.end()) transfer.peer = found->second;
    }
}

}  // namespace

void fillGaps(Draft& draft) {
    const StagesOfRank stages = stagesOfRanks(draft);
    fillRankNumbers(draft, stages);
    if (!draft.stagesUnknown) fillCoordinates(draft, stages);
    for (trace::Task& task : draft.found.tasks) fillChunk(task, stages);
    for (trace::Transfer& transfer : draft.found.transfers) fillChunk(transfer, stages);
    fillPeers(draft, stages);
}

}  // namespace pleat::annotate
