#include "analysis/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/nearest_name.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;

const Node& nodeOf(const ReplayIteration& iteration, std::size_t node) {
    return iteration.graph.nodes()[NodeId::at(node)];
}

// A rank of the model; nothing for a node that belongs to none.
const ReplayRank* rankOf(const ReplayModel& model, const Node& node) {
    return node.rank < 0 ? nullptr : &model.ranks[static_cast<std::size_t>(node.rank)];
}

bool selects(const ReplayOperation& operation, const std::string& name) {
    return operation.name == name || operation.suspect == name ||
           std::find(operation.keys.begin(), operation.keys.end(), name) != operation.keys.end();
}

void addNumbers(std::vector<Suspect>& suspects, SuspectKind kind,
                const std::set<std::int32_t>& numbers) {
    for (const std::int32_t number : numbers) {
        if (number >= 0) suspects.push_back({kind, number, -1, {}});
    }
}

using RankNames = std::set<std::pair<std::int32_t, std::string>>;  // number and device

void addRanks(std::vector<Suspect>& suspects, SuspectKind kind, const RankNames& ranks) {
    for (const auto& [number, device] : ranks) {
        if (number >= 0) suspects.push_back({kind, number, -1, device});
    }
}

// Of each rank that paused, and of all.
void addPauses(std::vector<Suspect>& suspects, const ReplayModel& model) {
    RankNames paused;
    bool any = false;
    for (const ReplayIteration& iteration : model.iterations) {
        for (std::size_t at = 0; at < iteration.pauseCell.size(); ++at) {
            if (iteration.pauseCell[at] == kNone ||
                recordedTime(iteration, at).delay <= base::Duration{})
                continue;
            any = true;
            const std::int32_t rank = model.pauseCells[iteration.pauseCell[at]].rank;
            if (rank < 0) continue;
            const ReplayRank& of = model.ranks[static_cast<std::size_t>(rank)];
            paused.emplace(of.number, of.device);
        }
    }
    addRanks(suspects, SuspectKind::Pause, paused);
    if (any) suspects.push_back({SuspectKind::Pause, -1, -1, {}});
}

// Whom the pause before a node belongs to.
const ReplayRank* pausedRank(const ReplayModel& model, const ReplayIteration& iteration,
                             std::size_t node) {
    if (iteration.pauseCell.empty() || iteration.pauseCell[node] == kNone) return nullptr;
    const std::int32_t rank = model.pauseCells[iteration.pauseCell[node]].rank;
    return rank < 0 ? nullptr : &model.ranks[static_cast<std::size_t>(rank)];
}

template <class Is>
Coverage ofRanks(const ReplayModel& model, Is is) {
    return {[&model, is](const auto& iteration, std::size_t node) {
                const ReplayRank* rank = rankOf(model, nodeOf(iteration, node));
                return rank != nullptr && is(*rank);
            },
            [&model, is](const auto& iteration, std::size_t node) {
                const ReplayRank* rank = pausedRank(model, iteration, node);
                return rank != nullptr && is(*rank);
            }};
}

bool all(const ReplayIteration&, std::size_t) { return true; }
bool none(const ReplayIteration&, std::size_t) { return false; }

}  // namespace

bool isRank(const ReplayRank& rank, const Suspect& suspect) {
    return rank.number == suspect.number && rank.device == suspect.name;
}

std::string toString(const Suspect& suspect) {
    const std::string device = suspect.name.empty() ? std::string() : "/" + suspect.name;
    switch (suspect.kind) {
        case SuspectKind::Pause:
            return suspect.number < 0 ? "pause" : fmt::format("pause:{}{}", suspect.number, device);
        case SuspectKind::Link:
            return fmt::format("link:{}-{}", suspect.number, suspect.other);
        case SuspectKind::Rank:
            return fmt::format("rank:{}{}", suspect.number, device);
        case SuspectKind::Stage:
            return fmt::format("stage:{}", suspect.number);
        case SuspectKind::DpRank:
            return fmt::format("dp:{}", suspect.number);
        case SuspectKind::Microbatch:
            return fmt::format("microbatch:{}", suspect.number);
        case SuspectKind::Operation:
            return suspect.name;
        case SuspectKind::Everything:
            return "all";
    }
    return {};
}

std::vector<Suspect> suspectsIn(const ReplayModel& model) {
    RankNames ranks;
    std::set<std::int32_t> stages, replicas, microbatches;
    for (const ReplayIteration& iteration : model.iterations) {
        for (const Node& node : iteration.graph.nodes()) {
            stages.insert(node.stage);
            microbatches.insert(node.microbatch);
            if (const ReplayRank* rank = rankOf(model, node)) {
                ranks.emplace(rank->number, rank->device);
                replicas.insert(rank->dp);
            }
        }
    }
    std::set<std::string> names;
    for (const ReplayOperation& operation : model.operations) {
        names.insert(operation.name);
        names.insert(operation.suspect);
        names.insert(operation.keys.begin(), operation.keys.end());
    }
    auto links = model.links;
    std::sort(links.begin(), links.end());
    std::vector<Suspect> suspects;
    addPauses(suspects, model);
    for (const auto& [lower, higher] : links)
        suspects.push_back({SuspectKind::Link, lower, higher, {}});
    addRanks(suspects, SuspectKind::Rank, ranks);
    addNumbers(suspects, SuspectKind::Stage, stages);
    addNumbers(suspects, SuspectKind::DpRank, replicas);
    addNumbers(suspects, SuspectKind::Microbatch, microbatches);
    for (const std::string& name : names)
        suspects.push_back({SuspectKind::Operation, -1, -1, name});
    suspects.push_back({});
    return suspects;
}

base::Result<Suspect> parseSuspect(std::string_view text, const std::vector<Suspect>& known) {
    std::vector<std::string> names;
    for (const Suspect& suspect : known) {
        names.push_back(toString(suspect));
        if (names.back() == text) return suspect;
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string nearest = base::nearestName(text, views);
    return base::Error{
        base::ErrorCode::Usage,
        fmt::format("no work in the trace matches \"{}\"; {}", text,
                    nearest.empty()
                        ? "examples of keys are stage:0, rank:0, compute, transfer.pp, F and all"
                        : fmt::format("did you mean {}?", nearest))};
}

Coverage coverage(const ReplayModel& model, const Suspect& suspect) {
    const std::int32_t number = suspect.number;
    const auto isThisRank = [suspect](const ReplayRank& rank) { return isRank(rank, suspect); };
    switch (suspect.kind) {
        case SuspectKind::Pause:
            if (number < 0) return {none, all};
            return {none, ofRanks(model, isThisRank).pauses};
        case SuspectKind::Link: {
            const auto found = std::find(model.links.begin(), model.links.end(),
                                         std::pair(suspect.number, suspect.other));
            const auto link = static_cast<std::uint32_t>(found - model.links.begin());
            return {[link](const auto& iteration, std::size_t node) {
                        return iteration.link[node] == link;
                    },
                    none};
        }
        case SuspectKind::Rank:
            return ofRanks(model, isThisRank);
        case SuspectKind::DpRank:
            return ofRanks(model, [number](const ReplayRank& rank) { return rank.dp == number; });
        case SuspectKind::Stage: {
            const Covers ofStage = [number](const auto& iteration, std::size_t node) {
                return nodeOf(iteration, node).stage == number;
            };
            return {ofStage, ofStage};
        }
        case SuspectKind::Microbatch:
            return {[number](const auto& iteration, std::size_t node) {
                        return nodeOf(iteration, node).microbatch == number;
                    },
                    none};
        case SuspectKind::Operation: {
            std::vector<bool> selected;
            for (const ReplayOperation& operation : model.operations)
                selected.push_back(selects(operation, suspect.name));
            return {[selected = std::move(selected)](const auto& iteration, std::size_t node) {
                        return selected[iteration.operation[node]];
                    },
                    none};
        }
        case SuspectKind::Everything:
            break;
    }
    return {all, all};
}

TimeOf choose(Coverage covers, TimeOf inside, TimeOf outside) {
    return [covers = std::move(covers), inside = std::move(inside), outside = std::move(outside)](
               const ReplayIteration& iteration, std::size_t node) {
        const bool work = iteration.operation[node] != kNone && covers.work(iteration, node);
        const bool pause = covers.pauses(iteration, node);
        if (work && pause) return inside(iteration, node);
        if (!work && !pause) return outside(iteration, node);
        NodeTime time = outside(iteration, node);
        const NodeTime other = inside(iteration, node);
        (work ? time.duration : time.delay) = work ? other.duration : other.delay;
        return time;
    };
}

TimeOf choose(Covers work, TimeOf inside, TimeOf outside) {
    return choose(Coverage{std::move(work), none}, std::move(inside), std::move(outside));
}

}  // namespace pleat::analysis
