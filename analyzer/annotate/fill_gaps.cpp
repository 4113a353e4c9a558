#include "annotate/fill_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pleat::annotate {
namespace {

using base::Severity;
using schedule::ActionKind;
using trace::RankId;
constexpr std::int32_t kLastIteration = std::numeric_limits<std::int32_t>::max();
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
    std::set<std::int32_t> taken;
    for (const trace::Rank& rank : draft.ranks) taken.insert(rank.number);
    std::int32_t next = 0;
    for (std::size_t i = 0; i < draft.ranks.size(); ++i) {
        trace::Rank& rank = draft.ranks[RankId::at(i)];
        if (rank.number >= 0 || stages[i].empty()) continue;
        while (!taken.insert(next).second) ++next;
        rank.number = next;
        draft.diagnostics.add(Severity::Info, "rank_guessed",
                              fmt::format("process {} on {} does not say its rank; taken as {}",
                                          rank.pid, rank.host, rank.number));
    }
}

// Ranks with the same first stage are replicas of one pipeline rank.
void fillCoordinates(Draft& draft, const StagesOfRank& stages) {
    std::map<std::int32_t, std::vector<std::pair<std::int32_t, RankId>>> byFirstStage;
    for (std::size_t i = 0; i < draft.ranks.size(); ++i) {
        const RankId id = RankId::at(i);
        if (stages[i].empty() || draft.ranks[id].coordinates.pp >= 0) continue;
        byFirstStage[stages[i].front()].emplace_back(draft.ranks[id].number, id);
    }
    std::int32_t pipelineRank = 0;
    for (auto& [stage, replicas] : byFirstStage) {
        std::sort(replicas.begin(), replicas.end());
        std::int32_t replica = 0;
        for (const auto& [number, id] : replicas) {
            trace::Coordinates& at = draft.ranks[id].coordinates;
            at.pp = pipelineRank;
            if (at.dp < 0) at.dp = replica;
            ++replica;
            draft.diagnostics.add(
                Severity::Info, "coordinates_guessed",
                fmt::format("rank {} does not say where it is; taken as dp {}, pp {} for it runs "
                            "stage {}",
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

// Iteration ranges of the ranks, for asking in which one a moment lies.
class Enclosing {
  public:
    explicit Enclosing(const std::vector<trace::IterationSpan>& spans) : m_spans(spans) {}

    // The last one that began at or before `moment`, the rank's first when none did; nothing when
    // the rank has no iteration ranges.
    [[nodiscard]] const trace::IterationSpan* at(RankId rank, base::TraceTime moment) const {
        const auto after = std::upper_bound(m_spans.begin(), m_spans.end(), std::pair(rank, moment),
                                            [](const auto& key, const trace::IterationSpan& span) {
                                                return key < std::pair(span.rank, span.span.begin);
                                            });
        if (after != m_spans.begin() && std::prev(after)->rank == rank) return &*std::prev(after);
        return after != m_spans.end() && after->rank == rank ? &*after : nullptr;
    }

  private:
    const std::vector<trace::IterationSpan>& m_spans;
};

class IterationGuess {
  public:
    explicit IterationGuess(Draft& draft) : m_draft(draft), m_enclosing(draft.enclosing) {}

    // Iteration ranges that do not say their number are counted on their rank.
    void numberRanges() {
        RankId rank;
        std::int32_t next = 0;
        std::unordered_map<trace::EventId, std::int32_t> numberOf;
        for (trace::IterationSpan& span : m_draft.enclosing) {
            if (span.rank != rank) next = 0;
            rank = span.rank;
            if (span.iteration < 0) {
                span.iteration = next;
                note(Severity::Info, "fields_guessed", span.event, "iteration ranges were counted");
            }
            next = span.iteration + (span.iteration < kLastIteration ? 1 : 0);
            numberOf[span.event] = span.iteration;
        }
        for (trace::IterationSpan& span : m_draft.found.iterations) {
            span.iteration = numberOf[span.event];
        }
    }

    // Items come in order of rank and start.
    template <class Item>
    void fill(Item& item, bool countable) {
        if (item.iteration >= 0) return;
        if (const trace::IterationSpan* span = m_enclosing.at(item.rank, item.span.begin)) {
            item.iteration = span->iteration;
            note(Severity::Info, "fields_guessed", item.event,
                 "iteration taken from the enclosing range");
        } else if (countable) {
            const base::StringId name = m_draft.events.columns().name[item.event.index()];
            item.iteration = m_repetitions[{item.rank, name}]++;
            note(Severity::Info, "iteration_guessed", item.event,
                 "iteration is how often the rank ran it before");
        }
    }

  private:
    void note(Severity severity, std::string_view code, trace::EventId event,
              std::string_view what) {
        const base::Diagnostic* known = m_draft.diagnostics.find(code);
        m_draft.diagnostics.add(
            severity, code,
            known ? std::string() : fmt::format("\"{}\": {}", m_draft.events.name(event), what));
    }

    Draft& m_draft;
    Enclosing m_enclosing;
    std::map<std::pair<RankId, base::StringId>, std::int32_t> m_repetitions;
};

void fillIterations(Draft& draft) {
    IterationGuess guess(draft);
    guess.numberRanges();
    for (trace::Task& task : draft.found.tasks) guess.fill(task, true);
    for (trace::Phase& phase : draft.found.phases) guess.fill(phase, true);
    for (trace::Transfer& transfer : draft.found.transfers) {
        guess.fill(transfer, transfer.action.has_value());
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
    fillCoordinates(draft, stages);
    for (trace::Task& task : draft.found.tasks) fillChunk(task, stages);
    for (trace::Transfer& transfer : draft.found.transfers) fillChunk(transfer, stages);
    fillIterations(draft);
    fillPeers(draft, stages);
}

}  // namespace pleat::annotate
