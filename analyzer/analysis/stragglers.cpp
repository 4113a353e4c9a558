#include "analysis/stragglers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/ideal_times.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
constexpr std::string_view kPause = "pause";

// What one operation of a suspect took, in ns over all iterations.
struct Work {
    double recorded = 0, ideal = 0;
    double excess = 0;           // only where more than the ideal
    std::vector<double> ratios;  // recorded over ideal
};

struct Candidate {
    Suspect suspect;
    std::map<std::string_view, Work> byOperation = {};
    std::set<std::int32_t> stages = {};
    // No chain of its nodes can make the iterations longer than by their excess together.
    double excess = 0;
    double recorded = 0;   // all its time: of two that explain the same, the one with less is
                           // the narrower
    bool ofTasks = false;  // an operation that is computing of microbatches
    double slowdown = 1;
    base::Duration gain = {};
};

// Operations are judged under one name each, not under every key that selects them. What has no
// peers cannot be compared with them.
std::vector<Suspect> judgedIn(const ReplayModel& model) {
    std::vector<Suspect> known = suspectsIn(model);
    std::array<std::size_t, kSuspectKindCount> count{};
    for (const Suspect& suspect : known) ++count[static_cast<std::size_t>(suspect.kind)];
    std::erase_if(known, [&](const Suspect& suspect) {
        switch (suspect.kind) {
            case SuspectKind::Everything:
                return true;
            case SuspectKind::Operation:
                return std::none_of(model.operations.begin(), model.operations.end(),
                                    [&](const ReplayOperation& operation) {
                                        return operation.suspect == suspect.name;
                                    });
            case SuspectKind::Pause:
                return false;
            default:
                return count[static_cast<std::size_t>(suspect.kind)] < 2;
        }
    });
    return known;
}

// The candidates a node is part of: what coverage() says of each, looked up instead of asked.
class Membership {
  public:
    Membership(const ReplayModel& model, const std::vector<Candidate>& candidates)
        : m_model(model),
          m_byOperation(model.operations.size(), kNowhere),
          m_byLink(model.links.size(), kNowhere),
          m_byRank(model.ranks.size(), kNowhere),
          m_byPausedRank(model.ranks.size(), kNowhere) {
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
            } else if (suspect.kind == SuspectKind::Rank ||
                       (suspect.kind == SuspectKind::Pause && suspect.number >= 0)) {
                auto& ofRank = suspect.kind == SuspectKind::Rank ? m_byRank : m_byPausedRank;
                for (std::size_t r = 0; r < ofRank.size(); ++r)
                    if (isRank(model.ranks[r], suspect)) ofRank[r] = i;
            } else {
                m_byNumber[static_cast<std::size_t>(suspect.kind)][suspect.number] = i;
            }
        }
    }

    template <class Visit>
    void visitWork(const ReplayIteration& iteration, std::size_t at, Visit visit) const {
        const Node& node = iteration.graph.nodes()[NodeId::at(at)];
        if (node.rank >= 0) {
            const auto rank = static_cast<std::size_t>(node.rank);
            if (m_byRank[rank] != kNowhere) visit(m_byRank[rank]);
            tell(SuspectKind::DpRank, m_model.ranks[rank].dp, visit);
        }
        tell(SuspectKind::Stage, node.stage, visit);
        tell(SuspectKind::Microbatch, node.microbatch, visit);
        if (const auto which = m_byOperation[iteration.operation[at]]; which != kNowhere)
            visit(which);
        if (iteration.link[at] == kNone) return;
        if (const auto which = m_byLink[iteration.link[at]]; which != kNowhere) visit(which);
    }

    template <class Visit>
    void visitPause(const ReplayIteration& iteration, std::size_t at, Visit visit) const {
        const std::int32_t paused = m_model.pauseCells[iteration.pauseCell[at]].rank;
        if (paused >= 0) {
            const auto rank = static_cast<std::size_t>(paused);
            if (m_byPausedRank[rank] != kNowhere) visit(m_byPausedRank[rank]);
            if (m_byRank[rank] != kNowhere) visit(m_byRank[rank]);
            tell(SuspectKind::DpRank, m_model.ranks[rank].dp, visit);
        }
        tell(SuspectKind::Pause, -1, visit);
        tell(SuspectKind::Stage, iteration.graph.nodes()[NodeId::at(at)].stage, visit);
    }

  private:
    template <class Visit>
    void tell(SuspectKind kind, std::int32_t number, Visit visit) const {
        const auto& known = m_byNumber[static_cast<std::size_t>(kind)];
        const auto found = known.find(number);
        if (found != known.end()) visit(found->second);
    }

    const ReplayModel& m_model;
    std::array<std::unordered_map<std::int32_t, std::size_t>, kSuspectKindCount> m_byNumber;
    std::vector<std::size_t> m_byOperation, m_byLink;
    std::vector<std::size_t> m_byRank, m_byPausedRank;  // [RankId index]
};

// Calls visit(candidate, iteration, node, ofPause, recorded ns, ideal ns) for all that is part of
// each.
template <class Visit>
void forEachPart(const ReplayModel& model, const std::vector<Candidate>& candidates, Visit visit) {
    const Membership membership(model, candidates);
    std::vector<Suspect> suspects;
    for (const Candidate& candidate : candidates) suspects.push_back(candidate.suspect);
    const OwnIdeals ideals(model, suspects);
    for (const ReplayIteration& iteration : model.iterations) {
        for (std::size_t at = 0; at < iteration.operation.size(); ++at) {
            if (!iteration.counts(at)) continue;
            const NodeTime recorded = recordedTime(iteration, at);
            const auto tell = [&](bool ofPause) {
                return [&, ofPause](std::size_t which) {
                    const NodeTime ideal = ideals.of(candidates[which].suspect, iteration, at);
                    visit(which, iteration, at, ofPause,
                          static_cast<double>((ofPause ? recorded.delay : recorded.duration).ns),
                          static_cast<double>((ofPause ? ideal.delay : ideal.duration).ns));
                };
            };
            if (iteration.operation[at] != kNone) membership.visitWork(iteration, at, tell(false));
            if (!iteration.pauseCell.empty() && iteration.pauseCell[at] != kNone &&
                recorded.delay > base::Duration{})
                membership.visitPause(iteration, at, tell(true));
        }
    }
}

void addWork(const ReplayModel& model, std::vector<Candidate>& candidates) {
    forEachPart(
        model, candidates,
        [&](std::size_t which, const ReplayIteration& iteration, std::size_t at, bool ofPause,
            double recorded, double ideal) {
            Candidate& candidate = candidates[which];
            Work& work =
                candidate.byOperation[ofPause ? kPause
                                              : std::string_view(
                                                    model.operationOf(iteration, at)->suspect)];
            work.recorded += recorded;
            work.ideal += ideal;
            work.excess += std::max(0.0, recorded - ideal);
            candidate.excess += std::max(0.0, recorded - ideal);
            candidate.recorded += recorded;
            if (ideal > 0 && !ofPause) work.ratios.push_back(recorded / ideal);
            const Node& node = iteration.graph.nodes()[NodeId::at(at)];
            if (candidate.suspect.kind == SuspectKind::Rank && !ofPause && node.stage >= 0)
                candidate.stages.insert(node.stage);
        });
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

Straggler describe(Candidate& candidate, std::size_t iterations) {
    Straggler found;
    found.suspect = candidate.suspect;
    found.slowdown = candidate.slowdown;
    found.gain = candidate.gain;
    const SuspectKind kind = candidate.suspect.kind;
    if (kind == SuspectKind::Rank || kind == SuspectKind::Pause)
        found.rank = candidate.suspect.number;
    if (kind == SuspectKind::Stage) found.stage = candidate.suspect.number;
    if (candidate.stages.size() == 1) found.stage = *candidate.stages.begin();
    const auto worst = std::max_element(
        candidate.byOperation.begin(), candidate.byOperation.end(),
        [](const auto& a, const auto& b) { return a.second.excess < b.second.excess; });
    if (worst == candidate.byOperation.end()) return found;
    found.operation = worst->first;
    Work& work = worst->second;
    found.excess = {std::llround(work.excess / static_cast<double>(iterations))};
    found.timesIdeal = found.slowestTenth = found.slowest = 0;
    if (work.ratios.empty()) return found;
    found.timesIdeal = work.recorded / work.ideal;
    const std::size_t nine = (work.ratios.size() * 9 + 9) / 10 - 1;
    std::sort(work.ratios.begin(), work.ratios.end());
    found.slowestTenth = work.ratios[nine];
    found.slowest = work.ratios.back();
    return found;
}

// [a][b]: how much of a's time above its ideal is part of b too.
std::vector<std::vector<double>> sharedExcess(const ReplayModel& model,
                                              const std::vector<Candidate>& candidates) {
    std::vector<std::vector<double>> shared(candidates.size(),
                                            std::vector<double>(candidates.size(), 0));
    std::vector<std::pair<std::size_t, double>> here;
    const ReplayIteration* lastIteration = nullptr;
    std::size_t lastNode = 0;
    bool lastPause = false;
    const auto flush = [&] {
        for (const auto& [a, excess] : here) {
            for (const auto& [b, other] : here) shared[a][b] += excess;
        }
        here.clear();
    };
    forEachPart(model, candidates,
                [&](std::size_t which, const ReplayIteration& iteration, std::size_t at,
                    bool ofPause, double recorded, double ideal) {
                    if (&iteration != lastIteration || at != lastNode || ofPause != lastPause)
                        flush();
                    lastIteration = &iteration;
                    lastNode = at;
                    lastPause = ofPause;
                    here.emplace_back(which, std::max(0.0, recorded - ideal));
                });
    flush();
    return shared;
}

bool isPlace(SuspectKind kind) {
    return kind == SuspectKind::Rank || kind == SuspectKind::Stage || kind == SuspectKind::DpRank;
}

// Who waits for a rank that pauses often pauses too, as far as anything recorded tells.
bool isOfAllPauses(const Candidate& candidate) {
    return candidate.suspect.kind == SuspectKind::Pause && candidate.suspect.number < 0;
}

// The rank that pauses, or else the place that costs about as much as all pauses together.
std::optional<std::size_t> whosePauses(const std::vector<Candidate>& candidates,
                                       const std::vector<std::size_t>& left, double least) {
    for (const SuspectKind kind : {SuspectKind::Pause, SuspectKind::Rank, SuspectKind::Stage}) {
        const auto found = std::find_if(left.begin(), left.end(), [&](std::size_t at) {
            const Candidate& one = candidates[at];
            return one.suspect.kind == kind && one.suspect.number >= 0 && one.slowdown - 1 >= least;
        });
        if (found != left.end()) return *found;
    }
    return std::nullopt;
}

// No stage, rank or replica whose work is slow has a link that costs nearly as much alone.
bool isLinkBehind(const Candidate& narrow, const Candidate& wide) {
    constexpr double kMostOf = 0.75;
    return narrow.suspect.kind == SuspectKind::Link && isPlace(wide.suspect.kind) &&
           narrow.slowdown - 1 >= kMostOf * (wide.slowdown - 1);
}

// The worst first. But of those that cost about as much alone, the one whose removal gains most: of
// two slow replicas of a stage each is as slow as the stage, yet only the stage made ideal gains
// anything. Before a wider one stands the narrower one within it that gains at least half as much:
// a slow rank makes its stage as slow. Forward or backward as such are not what is slow where it is
// that of one rank.
std::vector<std::size_t> ordered(const ReplayModel& model,
                                 const std::vector<Candidate>& candidates) {
    constexpr double kNearly = 0.9, kWithin = 0.8, kMuch = 0.5, kMuchOfPauses = 0.85;
    const auto shared = sharedExcess(model, candidates);
    std::vector<std::size_t> left(candidates.size()), order;
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
    const auto thousandths = [&](std::size_t at) {
        return std::llround(candidates[at].slowdown * 1000);
    };
    std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
        if (thousandths(a) != thousandths(b)) return thousandths(a) > thousandths(b);
        return candidates[a].suspect.kind < candidates[b].suspect.kind;
    });
    while (!left.empty()) {
        const double enough = kNearly * (candidates[left.front()].slowdown - 1);
        const auto alike = [&](std::size_t at) { return candidates[at].slowdown - 1 >= enough; };
        std::int64_t most = candidates[left.front()].gain.ns;
        for (const std::size_t at : left) {
            if (alike(at)) most = std::max(most, candidates[at].gain.ns);
        }
        const auto gains = [&](std::size_t at) {
            const auto missing = static_cast<double>(most - candidates[at].gain.ns);
            return alike(at) && missing <= (1 - kNearly) * std::abs(static_cast<double>(most));
        };
        auto next = std::find_if(left.begin(), left.end(), gains);
        if (isOfAllPauses(candidates[*next])) {
            const auto whose = whosePauses(candidates, left,
                                           kMuchOfPauses * (candidates[left.front()].slowdown - 1));
            if (whose) next = std::find(left.begin(), left.end(), *whose);
        }
        if (candidates[*next].ofTasks) {
            const auto culprit = std::find_if(left.begin(), left.end(), [&](std::size_t at) {
                return isPlace(candidates[at].suspect.kind) && alike(at) &&
                       shared[*next][at] >= kWithin * candidates[*next].excess;
            });
            if (culprit != left.end()) next = culprit;
        }
        for (auto other = next + 1; other != left.end(); ++other) {
            const Candidate& narrow = candidates[*other];
            const Candidate& wide = candidates[*next];
            if (narrow.recorded < wide.recorded &&
                shared[*other][*next] >= kWithin * narrow.excess &&
                (isLinkBehind(narrow, wide) ||
                 (alike(*other) && static_cast<double>(narrow.gain.ns) >=
                                       kMuch * static_cast<double>(wide.gain.ns))))
                next = other;
        }
        order.push_back(*next);
        left.erase(next);
    }
    return order;
}

// Pauses are what is left over by all that was recorded, holes in it included.
bool isMostlyPauses(const Candidate& candidate) {
    const auto pause = candidate.byOperation.find(kPause);
    return pause != candidate.byOperation.end() && 2 * pause->second.excess > candidate.excess;
}

double leastSlowdown(const Candidate& candidate) {
    return 1 + (isMostlyPauses(candidate) ? kLeastPauseSlowdown : kLeastSlowdown);
}

// Pauses that cost much alone, and whose end would save nothing, are waiting for somebody whom
// nothing recorded names: a stage without named messages pauses while the others compute.
bool onlyWaits(const Candidate& candidate, double recorded) {
    constexpr double kLeastOfIt = 0.1;
    const double cost = recorded * (1 - 1 / candidate.slowdown);
    return isMostlyPauses(candidate) && static_cast<double>(candidate.gain.ns) < kLeastOfIt * cost;
}

bool isNoise(const Candidate& candidate, double recorded) {
    return static_cast<double>(candidate.gain.ns) < kLeastSlowdown * recorded &&
           candidate.slowdown < 1 + kLeastWithoutGain;
}

// Judged from the iteration's begin to its last work: what a recorder adds at the end is no work.
double meanRest(const ReplayModel& model) {
    double sum = 0;
    for (const ReplayIteration& iteration : model.iterations)
        sum += static_cast<double>(iteration.rest.ns);
    return sum / static_cast<double>(std::max<std::size_t>(1, model.windows().size()));
}

}  // namespace

std::vector<Straggler> findStragglers(const ReplayModel& model) {
    const double rest = meanRest(model);
    const double recorded = meanOf(replayed(model, recordedTimes()));
    const double usual = meanOf(replayed(model, idealTimes(model))) - rest;
    if (usual <= 0) return {};
    std::vector<Candidate> candidates;
    for (Suspect& suspect : judgedIn(model)) candidates.push_back({std::move(suspect)});
    addWork(model, candidates);
    const std::size_t iterations = model.windows().size();
    leaveLikely(candidates, usual * static_cast<double>(iterations));
    for (Candidate& candidate : candidates) {
        const TimeOf ideals = idealTimes(model, candidate.suspect);
        const Coverage covers = coverage(model, candidate.suspect);
        const bool sameForAll = (model.cells.empty() && model.pauseCells.empty()) ||
                                candidate.suspect.kind == SuspectKind::Operation ||
                                candidate.suspect.number < 0;
        const double ideal = sameForAll ? usual : meanOf(replayed(model, ideals)) - rest;
        const auto alone = replayed(model, choose(covers, recordedTimes(), ideals));
        candidate.slowdown = ideal > 0 ? (meanOf(alone) - rest) / ideal : 1;
        if (candidate.slowdown < leastSlowdown(candidate)) continue;
        const auto without = replayed(model, choose(covers, ideals, recordedTimes()));
        candidate.gain = {std::llround(recorded - meanOf(without))};
    }
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.slowdown < leastSlowdown(candidate) || isNoise(candidate, recorded) ||
               onlyWaits(candidate, recorded);
    });
    std::vector<Straggler> stragglers;
    for (const std::size_t at : ordered(model, candidates))
        stragglers.push_back(describe(candidates[at], iterations));
    return stragglers;
}

StragglerSearch searchOf(const ReplayModel& model) {
    StragglerSearch search;
    if (model.iterations.empty()) {
        search.missing =
            model.ranks.size() < 2
                ? "nothing names tasks and only one rank was recorded, so there is nothing to "
                  "compare it with; open the files of all ranks together"
                : "no iteration could be replayed, because tasks or device work of at least two "
                  "ranks are missing";
        return search;
    }
    std::array<std::size_t, kSuspectKindCount> count{};
    for (const Suspect& suspect : judgedIn(model)) ++count[static_cast<std::size_t>(suspect.kind)];
    for (std::size_t kind = 0; kind < count.size(); ++kind) {
        if (count[kind] > 0)
            search.compared.push_back({static_cast<SuspectKind>(kind), count[kind]});
    }
    if (search.compared.empty())
        search.missing = "the iterations contain no work that could be compared";
    return search;
}

std::string_view pluralOf(SuspectKind kind) {
    switch (kind) {
        case SuspectKind::Pause:
            return "pauses";
        case SuspectKind::Link:
            return "links";
        case SuspectKind::Rank:
            return "ranks";
        case SuspectKind::Stage:
            return "stages";
        case SuspectKind::DpRank:
            return "replicas";
        case SuspectKind::Microbatch:
            return "microbatches";
        case SuspectKind::Operation:
            return "operations";
        case SuspectKind::Everything:
            break;
    }
    return "all";
}

}  // namespace pleat::analysis
