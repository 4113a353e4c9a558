#include "analysis/stragglers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// What one operation of a suspect took, in ns over all iterations.
struct Work {
    double recorded = 0, ideal = 0;
    double excess = 0;           // only where more than the ideal
    std::vector<double> ratios;  // recorded over ideal
};

struct Candidate {
    Suspect suspect;
    std::map<std::string_view, Work> byOperation;
    std::set<std::int32_t> stages;
    // No chain of its nodes can make the iterations longer than by their excess together.
    double excess = 0;
};

// Operations are judged under one name each, not under every key that selects them. A replica as a
// whole is none: its ranks and stages are.
bool isJudged(const Suspect& suspect, const ReplayModel& model) {
    if (suspect.kind == SuspectKind::Everything || suspect.kind == SuspectKind::DpRank)
        return false;
    if (suspect.kind != SuspectKind::Operation) return true;
    return std::any_of(
        model.operations.begin(), model.operations.end(),
        [&](const ReplayOperation& operation) { return operation.suspect == suspect.name; });
}

// The candidates a node is part of: what coverage() says of each, looked up instead of asked.
class Membership {
  public:
    Membership(const ReplayModel& model, const std::vector<Candidate>& candidates)
        : m_model(model),
          m_byOperation(model.operations.size(), kNowhere),
          m_byLink(model.links.size(), kNowhere) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const Suspect& suspect = candidates[i].suspect;
            if (suspect.kind == SuspectKind::Operation) {
                for (std::size_t k = 0; k < m_byOperation.size(); ++k) {
                    if (model.operations[k].suspect == suspect.name) m_byOperation[k] = i;
                }
            } else if (suspect.kind == SuspectKind::Link) {
                const auto found = std::find(model.links.begin(), model.links.end(),
                                             std::pair(suspect.number, suspect.other));
                m_byLink[static_cast<std::size_t>(found - model.links.begin())] = i;
            } else {
                m_byNumber[static_cast<std::size_t>(suspect.kind)][suspect.number] = i;
            }
        }
    }

    template <class Visit>
    void visit(const ReplayIteration& iteration, std::size_t at, Visit visit) const {
        const Node& node = iteration.graph.nodes()[NodeId::at(at)];
        const auto tell = [&](SuspectKind kind, std::int32_t number) {
            const auto& known = m_byNumber[static_cast<std::size_t>(kind)];
            const auto found = known.find(number);
            if (found != known.end()) visit(found->second);
        };
        if (node.rank >= 0) {
            tell(SuspectKind::Rank, m_model.ranks[static_cast<std::size_t>(node.rank)].number);
        }
        tell(SuspectKind::Stage, node.stage);
        tell(SuspectKind::Microbatch, node.microbatch);
        visit(m_byOperation[iteration.operation[at]]);
        if (iteration.link[at] != kNone) visit(m_byLink[iteration.link[at]]);
    }

  private:
    const ReplayModel& m_model;
    std::array<std::unordered_map<std::int32_t, std::size_t>, kSuspectKindCount> m_byNumber;
    std::vector<std::size_t> m_byOperation, m_byLink;
};

void addWork(const ReplayModel& model, std::vector<Candidate>& candidates) {
    const Membership membership(model, candidates);
    for (const ReplayIteration& iteration : model.iterations) {
        for (std::size_t at = 0; at < iteration.operation.size(); ++at) {
            const ReplayOperation* operation = model.operationOf(iteration, at);
            if (operation == nullptr) continue;
            const Node& node = iteration.graph.nodes()[NodeId::at(at)];
            const auto recorded = static_cast<double>(node.duration.ns);
            const auto ideal = static_cast<double>(operation->ideal.ns);
            membership.visit(iteration, at, [&](std::size_t which) {
                Candidate& candidate = candidates[which];
                Work& work = candidate.byOperation[operation->suspect];
                work.recorded += recorded;
                work.ideal += ideal;
                work.excess += std::max(0.0, recorded - ideal);
                candidate.excess += std::max(0.0, recorded - ideal);
                if (ideal > 0) work.ratios.push_back(recorded / ideal);
                if (candidate.suspect.kind == SuspectKind::Rank && node.stage >= 0)
                    candidate.stages.insert(node.stage);
            });
        }
    }
}

// Leaves those that can reach the least slowdown at all, and of each kind the likeliest.
void leaveLikely(std::vector<Candidate>& candidates, double idealSum) {
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.excess < kLeastSlowdown * idealSum;
    });
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        return a.suspect.kind != b.suspect.kind ? a.suspect.kind < b.suspect.kind
                                                : a.excess > b.excess;
    });
    std::map<SuspectKind, std::size_t> kept;
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return ++kept[candidate.suspect.kind] > kMostSuspectsOfAKind;
    });
}

Straggler describe(Candidate& candidate, double slowdown) {
    Straggler found;
    found.suspect = candidate.suspect;
    found.slowdown = slowdown;
    if (candidate.suspect.kind == SuspectKind::Rank) found.rank = candidate.suspect.number;
    if (candidate.suspect.kind == SuspectKind::Stage) found.stage = candidate.suspect.number;
    if (candidate.stages.size() == 1) found.stage = *candidate.stages.begin();
    const auto worst = std::max_element(
        candidate.byOperation.begin(), candidate.byOperation.end(),
        [](const auto& a, const auto& b) { return a.second.excess < b.second.excess; });
    if (worst == candidate.byOperation.end()) return found;
    found.operation = worst->first;
    Work& work = worst->second;
    if (work.ratios.empty()) return found;
    found.timesIdeal = work.recorded / work.ideal;
    const std::size_t nine = (work.ratios.size() * 9 + 9) / 10 - 1;
    std::sort(work.ratios.begin(), work.ratios.end());
    found.slowestTenth = work.ratios[nine];
    found.slowest = work.ratios.back();
    return found;
}

// Slowdowns closer than a thousandth are equal: a slow rank makes its stage as slow, and the rank
// is the better answer.
bool isWorse(const Straggler& a, const Straggler& b) {
    const auto thousandths = [](const Straggler& one) { return std::llround(one.slowdown * 1000); };
    if (thousandths(a) != thousandths(b)) return thousandths(a) > thousandths(b);
    return a.suspect.kind < b.suspect.kind;
}

}  // namespace

std::vector<Straggler> findStragglers(const ReplayModel& model) {
    std::vector<Straggler> stragglers;
    const double ideal = meanOf(replayed(model, idealDurations(model)));
    if (ideal <= 0) return stragglers;
    std::vector<Candidate> candidates;
    for (Suspect& suspect : suspectsIn(model)) {
        if (isJudged(suspect, model)) candidates.push_back({std::move(suspect), {}, {}, 0});
    }
    addWork(model, candidates);
    leaveLikely(candidates, ideal * static_cast<double>(model.iterations.size()));
    for (Candidate& candidate : candidates) {
        const auto alone = replayed(model, choose(coverage(model, candidate.suspect),
                                                  recordedDurations(), idealDurations(model)));
        const double slowdown = meanOf(alone) / ideal;
        if (slowdown < 1 + kLeastSlowdown) continue;
        stragglers.push_back(describe(candidate, slowdown));
    }
    std::stable_sort(stragglers.begin(), stragglers.end(), isWorse);
    return stragglers;
}

}  // namespace pleat::analysis
