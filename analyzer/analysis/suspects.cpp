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

}  // namespace

std::string toString(const Suspect& suspect) {
    switch (suspect.kind) {
        case SuspectKind::Link:
            return fmt::format("link:{}-{}", suspect.number, suspect.other);
        case SuspectKind::Rank:
            return fmt::format("rank:{}", suspect.number);
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
    std::set<std::int32_t> ranks, stages, replicas, microbatches;
    for (const ReplayIteration& iteration : model.iterations) {
        for (const Node& node : iteration.graph.nodes()) {
            stages.insert(node.stage);
            microbatches.insert(node.microbatch);
            if (const ReplayRank* rank = rankOf(model, node)) {
                ranks.insert(rank->number);
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
    for (const auto& [lower, higher] : links)
        suspects.push_back({SuspectKind::Link, lower, higher, {}});
    addNumbers(suspects, SuspectKind::Rank, ranks);
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
    return base::Error{base::ErrorCode::Usage,
                       fmt::format("nothing in the trace is \"{}\"; {}", text,
                                   nearest.empty() ? "stage:0, rank:0, compute, transfer.pp, F and "
                                                     "all are such keys"
                                                   : fmt::format("did you mean {}?", nearest))};
}

Covers coverage(const ReplayModel& model, const Suspect& suspect) {
    const std::int32_t number = suspect.number;
    switch (suspect.kind) {
        case SuspectKind::Link: {
            const auto found = std::find(model.links.begin(), model.links.end(),
                                         std::pair(suspect.number, suspect.other));
            const auto link = static_cast<std::uint32_t>(found - model.links.begin());
            return [link](const auto& iteration, std::size_t node) {
                return iteration.link[node] == link;
            };
        }
        case SuspectKind::Rank:
        case SuspectKind::DpRank: {
            const bool isRank = suspect.kind == SuspectKind::Rank;
            return [&model, number, isRank](const auto& iteration, std::size_t node) {
                const ReplayRank* rank = rankOf(model, nodeOf(iteration, node));
                return rank != nullptr && (isRank ? rank->number : rank->dp) == number;
            };
        }
        case SuspectKind::Stage:
            return [number](const auto& iteration, std::size_t node) {
                return nodeOf(iteration, node).stage == number;
            };
        case SuspectKind::Microbatch:
            return [number](const auto& iteration, std::size_t node) {
                return nodeOf(iteration, node).microbatch == number;
            };
        case SuspectKind::Operation: {
            std::vector<bool> selected;
            for (const ReplayOperation& operation : model.operations)
                selected.push_back(selects(operation, suspect.name));
            return [selected = std::move(selected)](const auto& iteration, std::size_t node) {
                return selected[iteration.operation[node]];
            };
        }
        case SuspectKind::Everything:
            break;
    }
    return [](const auto&, std::size_t) { return true; };
}

DurationOf choose(Covers covers, DurationOf inside, DurationOf outside) {
    return [covers = std::move(covers), inside = std::move(inside), outside = std::move(outside)](
               const ReplayIteration& iteration, std::size_t node) {
        return covers(iteration, node) ? inside(iteration, node) : outside(iteration, node);
    };
}

}  // namespace pleat::analysis
