#include "annotate/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "annotate/action_names.h"
#include "annotate/rule.h"
#include "annotate/rule_marks.h"
#include "base/say.h"
#include "trace/arguments.h"
#include "trace/categories.h"
#include "trace/limits.h"

namespace pleat::annotate {
namespace {

using trace::categories::kDeviceAnnotation;

base::Error wrong(std::string message) { return {base::ErrorCode::Input, std::move(message)}; }

// -1 for none. What is too large stays too large, and is limited with all other numbers.
std::int32_t narrow(std::int64_t value) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -1, kMost));
}

// Adds what events mean by their rules.
class RuleOutcome {
  public:
    RuleOutcome(std::span<const Rule> rules, Draft& draft) : m_rules(rules), m_draft(draft) {}

    void add(const RuleMatch& match) {
        const Rule& rule = *match.rule;
        const trace::RankId rank = m_draft.rankOf(m_draft.events.event(match.event));
        const std::int32_t iteration = narrow(match.numbers[Iteration]);
        placeRank(rank, match);
        switch (rule.kind) {
            case RuleKind::Task:
                return addTask(rank, match);
            case RuleKind::Transfer:
                return addTransfers(rank, match);
            case RuleKind::Phase:
                m_draft.found.phases.push_back(
                    {rank, match.event, iteration, rule.phase, match.span});
                return;
            case RuleKind::Iteration:
                m_draft.enclosing.push_back({rank, match.event, iteration, match.span});
                if (!match.open)
                    m_draft.found.iterations.push_back({rank, match.event, iteration, match.span});
                return;
        }
    }

    // Stages that come from a chunk and the rank's place in the pipeline, once all places are
    // known.
    void finish() {
        std::set<trace::RankId> of;
        for (const Unplaced& one : m_unplaced) of.insert(one.rank);
        m_pidsAreRanks = m_draft.pidsAreRanks(of);
        std::int64_t ranks = 0;
        for (const Unplaced& one : m_unplaced) ranks = std::max(ranks, placeOf(one.rank) + 1);
        for (const Unplaced& one : m_unplaced) {
            const std::int64_t place = placeOf(one.rank);
            const bool folded = one.rule == StageRule::VShaped && one.chunk % 2 == 1;
            const std::int64_t stage =
                place < 0 || one.chunk > trace::kMaximumNumber
                    ? -1
                    : one.chunk * ranks + (folded ? ranks - 1 - place : place);
            if (place >= 0 && m_draft.ranks[one.rank].coordinates.pp < 0)
                m_draft.ranks[one.rank].coordinates.pp = narrow(place);
            if (one.task.valid()) m_draft.found.tasks[one.task].stage = narrow(stage);
            if (one.transfer.valid()) m_draft.found.transfers[one.transfer].stage = narrow(stage);
        }
    }

  private:
    struct Unplaced {
        trace::TaskId task;
        trace::TransferId transfer;
        trace::RankId rank;
        std::int64_t chunk = 0;
        StageRule rule = StageRule::Looped;
    };

    // What the event says of its rank.
    void placeRank(trace::RankId id, const RuleMatch& match) {
        trace::Rank& rank = m_draft.ranks[id];
        std::int64_t number = match.numbers[RankNumber];
        if (number < 0 && match.rule->rankFromPid) number = rank.pid;
        if (number >= 0 && number <= trace::kMaximumNumber && m_numbered.emplace(id, number).second)
            rank.number = narrow(number);
        const auto known = m_numbered.find(id);
        if (number >= 0 && known != m_numbered.end() && known->second != number) {
            m_draft.diagnostics.add("rank_conflict", [&] {
                return fmt::format(
                    "rule {}: \"{}\" gives rank {}, but its process is rank {}; a process "
                    "can be only one rank",
                    numberOf(*match.rule), printed(match.event), number, known->second);
            });
        }
        const auto place = [&](RuleNumber field, std::int32_t& at) {
            if (match.numbers[field] >= 0) at = narrow(match.numbers[field]);
        };
        place(DpPlace, rank.coordinates.dp);
        place(PpPlace, rank.coordinates.pp);
        place(TpPlace, rank.coordinates.tp);
    }

    // -1 where nothing tells. A rank number is the place where no layout is recorded.
    [[nodiscard]] std::int64_t placeOf(trace::RankId id) const {
        const trace::Rank& rank = m_draft.ranks[id];
        const std::int64_t place = rank.coordinates.pp >= 0 ? rank.coordinates.pp
                                   : m_pidsAreRanks         ? rank.pid
                                                            : rank.number;
        return place <= trace::kMaximumNumber ? place : -1;
    }

    void addTask(trace::RankId rank, const RuleMatch& match) {
        const RuleNumbers& n = match.numbers;
        const bool computed = match.rule->stageRule != StageRule::Recorded && n[Chunk] >= 0;
        const auto known = [&](RuleNumber number) { return n[number] >= 0 || match.rule->counts; };
        const bool hasStage = known(Stage) || computed;
        if (hasStage && known(Microbatch)) {
            const trace::TaskId task = m_draft.found.tasks.push(
                {rank, match.event, narrow(n[Iteration]), narrow(n[Stage]), narrow(n[Chunk]),
                 narrow(n[Microbatch]), match.rule->action, match.span});
            if (n[Stage] < 0 && computed)
                m_unplaced.push_back({task, {}, rank, n[Chunk], match.rule->stageRule});
            return;
        }
        m_draft.diagnostics.add("rule_incomplete", [&] {
            return fmt::format(
                "\"{}\" matches rule {} for tasks, but its {} is unknown (use a named "
                "group, an argument, \"stage_from\" or \"count\": true)",
                printed(match.event), numberOf(*match.rule), hasStage ? "microbatch" : "stage");
        });
    }

    void addTransfers(trace::RankId rank, const RuleMatch& match) {
        const RuleNumbers& n = match.numbers;
        trace::Transfer transfer;
        transfer.rank = rank;
        transfer.event = match.event;
        transfer.iteration = narrow(n[Iteration]);
        transfer.stage = narrow(n[Stage]);
        transfer.chunk = narrow(n[Chunk]);
        transfer.microbatch = narrow(n[Microbatch]);
        transfer.dimension = match.rule->dimension;
        transfer.bytes = std::max<std::int64_t>(n[Bytes], 0);
        transfer.peer = narrow(n[Peer]);
        transfer.sequence = n[Sequence];
        transfer.span = match.span;
        if (match.rule->messages.size() > 1) m_draft.transferBatches.push_back(match.event);
        for (const Rule::Message& message : match.rule->messages) {
            transfer.operation = message.operation;
            transfer.action = message.action;
            const trace::TransferId id = m_draft.found.transfers.push(transfer);
            if (n[Stage] < 0 && n[Chunk] >= 0 && match.rule->stageRule != StageRule::Recorded)
                m_unplaced.push_back({{}, id, rank, n[Chunk], match.rule->stageRule});
        }
    }

    [[nodiscard]] std::size_t numberOf(const Rule& rule) const {
        return static_cast<std::size_t>(&rule - m_rules.data()) + 1;
    }
    [[nodiscard]] std::string printed(trace::EventId event) const {
        return base::printable(m_draft.events.name(event), 80);
    }

    std::span<const Rule> m_rules;
    Draft& m_draft;
    std::unordered_map<trace::RankId, std::int64_t> m_numbered;  // by rules
    std::vector<Unplaced> m_unplaced;
    bool m_pidsAreRanks = false;
};

// Finds the events that rules fit.
class RuleRun {
  public:
    // `user`: the rules are a person's own, who wants to know what came of each.
    RuleRun(std::span<const Rule> rules, Draft& draft, bool user)
        : m_rules(rules),
          m_draft(draft),
          m_user(user),
          m_meant(draft.events.eventCount(), false),
          m_outcome(rules, draft),
          m_marks(draft, rules),
          m_fitsNothing(draft.events.columns().strings.size(), false),
          m_used(rules.size(), 0),
          m_ofOtherKind(rules.size(), 0) {
        if (m_user) return;
        m_tasksKnown = !draft.found.tasks.empty();
        m_iterationsKnown = !draft.enclosing.empty();
        for (const auto& transfer : draft.found.transfers) m_meant[transfer.event.index()] = true;
        for (const auto& phase : draft.found.phases) m_meant[phase.event.index()] = true;
    }

    void run() {
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) look(trace::EventId::at(i));
        for (const RuleMatch& range : m_marks.ranges()) m_outcome.add(range);
        m_outcome.finish();
        for (std::size_t i = 0; m_user && i < m_rules.size(); ++i)
            if (m_used[i] == 0) noteUnused(i);
    }

  private:
    struct Meaning {
        const Rule* rule = nullptr;
        RuleNumbers numbers{};
    };

    void look(trace::EventId id) {
        if (m_fitsNothing[m_draft.events.columns().name[id.index()].index()]) return;
        const trace::Event event = m_draft.events.event(id);
        if (event.flag == trace::EventFlag::OpenAtEnd) return;
        const std::vector<Meaning>& meanings = meaningsOf(id, event);
        if (meanings.empty() || m_meant[id.index()]) return;
        (void)m_arguments.read(m_draft.events.arguments(id));
        const bool isMark = event.kind == trace::EventKind::Mark;
        for (const Meaning& meaning : meanings) {
            const auto index = static_cast<std::size_t>(meaning.rule - m_rules.data());
            if ((meaning.rule->edge != RuleEdge::None) != isMark) {
                ++m_ofOtherKind[index];
                continue;
            }
            const auto numbers = meaning.rule->completed(meaning.numbers, m_arguments);
            if (!numbers) continue;
            ++m_used[index];
            const RuleMatch match{meaning.rule, id, event.span, *numbers, false};
            if (isMark) {
                m_marks.add(match);
            } else {
                m_outcome.add(match);
            }
            if (!m_user && meaning.rule->kind == RuleKind::Transfer)
                m_draft.frameworkTransfers.push_back(id);
            return;
        }
    }

    // The rules that fit, worked out once per name and domain.
    const std::vector<Meaning>& meaningsOf(trace::EventId id, const trace::Event& event) {
        const std::uint64_t key = (std::uint64_t{event.name.index()} << 32) |
                                  (event.domain.valid() ? event.domain.index() + 1 : 0);
        const auto [known, isNew] = m_meanings.try_emplace(key);
        if (!isNew) return known->second;
        const std::string_view domain = m_draft.events.domain(id);
        std::string_view name = m_draft.events.name(id);
        if (!m_user) name = withoutEmitterSuffix(name);
        for (const Rule& rule : m_rules) {
            if (!rule.domain.empty() && rule.domain != domain) continue;
            // A profiler writes each annotation again on the device's lanes.
            if (rule.domain.empty() && domain == kDeviceAnnotation) continue;
            if (!isWanted(rule)) continue;
            bool tooSlow = false;
            const auto numbers = rule.match(name, tooSlow);
            if (tooSlow && m_user) noteSlow(rule, name);
            if (numbers) known->second.push_back({&rule, *numbers});
        }
        // Rules of ours are for every domain, so that such a name need not be looked up again.
        if (!m_user && known->second.empty() && domain != kDeviceAnnotation)
            m_fitsNothing[event.name.index()] = true;
        return known->second;
    }

    [[nodiscard]] bool isWanted(const Rule& rule) const {
        if (rule.kind == RuleKind::Transfer) return true;
        if (rule.kind == RuleKind::Iteration) return !m_iterationsKnown;
        return !m_tasksKnown;
    }

    void noteSlow(const Rule& rule, std::string_view name) {
        m_draft.diagnostics.add("rule_too_slow", [&] {
            return fmt::format(
                "rule {}: gave up matching \"{}\" with \"{}\" after {} "
                "steps; write the pattern without nested repeats",
                &rule - m_rules.data() + 1, base::printable(name, 80), rule.pattern,
                kMostRuleSteps);
        });
    }

    // Why nothing came of a rule: no name fits, or only events that it is not for.
    void noteUnused(std::size_t index) {
        const Rule& rule = m_rules[index];
        std::string why = "no event name matches";
        if (m_ofOtherKind[index] > 0 && rule.edge == RuleEdge::None) {
            why = fmt::format(
                "only {} without a duration match it (\"mark\": \"begin\" or \"end\" makes it a "
                "rule for these)",
                m_ofOtherKind[index] == 1 ? "1 instant"
                                          : fmt::format("{} instants", m_ofOtherKind[index]));
        } else if (m_ofOtherKind[index] > 0) {
            why = "only events with a duration match it, but \"mark\" makes it a rule for instants";
        } else if (fitsSome(rule)) {
            why = rule.needs.empty() ? "an earlier rule matches all its events"
                                     : "the matching events lack a field that it needs, or an "
                                       "earlier rule matches them";
        }
        m_draft.diagnostics.add("rule_unused", [&] {
            return fmt::format("rule {}, \"{}\": {}", index + 1, rule.pattern, why);
        });
    }

    [[nodiscard]] bool fitsSome(const Rule& rule) const {
        return std::any_of(m_meanings.begin(), m_meanings.end(), [&](const auto& known) {
            return std::any_of(known.second.begin(), known.second.end(),
                               [&](const Meaning& meaning) { return meaning.rule == &rule; });
        });
    }

    std::span<const Rule> m_rules;
    Draft& m_draft;
    const bool m_user;
    bool m_tasksKnown = false, m_iterationsKnown = false;
    std::vector<bool> m_meant;  // by event: means something already; none for a user's rules
    RuleOutcome m_outcome;
    RuleMarks m_marks;
    std::vector<bool> m_fitsNothing;                                     // by name
    std::vector<std::int64_t> m_used, m_ofOtherKind;                     // events, by rule
    std::unordered_map<std::uint64_t, std::vector<Meaning>> m_meanings;  // by name and domain
    trace::Arguments m_arguments;
};

}  // namespace

Rules::Rules() = default;
Rules::~Rules() = default;
Rules::Rules(Rules&&) noexcept = default;
Rules& Rules::operator=(Rules&&) noexcept = default;

base::Result<Rules> Rules::parse(std::string_view json, std::string_view name) {
    const nlohmann::json whole = nlohmann::json::parse(json, nullptr, false, true);
    if (whole.is_discarded()) return wrong(fmt::format("{}: is not valid JSON", name));
    const auto list = whole.is_object() ? whole.find("rules") : whole.end();
    if (!whole.is_object() || list == whole.end() || !list->is_array())
        return wrong(fmt::format("{}: expected {{\"rules\": [...]}}", name));
    for (const auto& [key, value] : whole.items()) {
        if (key != "rules" && key != "comment")
            return wrong(fmt::format(
                "{}: has an unknown key \"{}\" beside \"rules\"; the known ones are rules, comment",
                name, key));
    }
    Rules rules;
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto rule = Rule::read((*list)[i]);
        if (!rule) return wrong(fmt::format("{}: rule {}: {}", name, i + 1, rule.error().message));
        rules.m_rules.push_back(std::move(*rule));
    }
    return rules;
}

void Rules::apply(Draft& draft) const {
    if (!m_rules.empty()) RuleRun(m_rules, draft, true).run();
}

void Rules::applyToUnknown(Draft& draft) const { RuleRun(m_rules, draft, false).run(); }

}  // namespace pleat::annotate
