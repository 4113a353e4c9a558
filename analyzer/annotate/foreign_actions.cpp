#include "annotate/foreign_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "annotate/action_names.h"
#include "base/say.h"
#include "schedule/markers.h"
#include "trace/arguments.h"
#include "trace/categories.h"
#include "trace/limits.h"

namespace pleat::annotate {
namespace {

using schedule::Action;
using schedule::ActionKind;
using trace::EventId;
using trace::RankId;

// Of a domain's ranks and stages, this share must look like a pipeline's.
constexpr double kNearlyAll = 0.9;

struct NamedRange {
    EventId event;
    const Action* action = nullptr;
};

bool isForward(const Action& action) { return action.kind == ActionKind::Forward; }
bool isBackward(const Action& action) {
    return action.kind == ActionKind::FullBackward || action.kind == ActionKind::InputBackward;
}

// Which microbatches one stage of one rank ran forward, and which backward.
struct StageWork {
    std::set<std::int32_t> forward, backward;

    [[nodiscard]] bool isWhole() const {
        return !forward.empty() && forward == backward && *forward.begin() == 0 &&
               *forward.rbegin() + 1 == static_cast<std::int32_t>(forward.size());
    }
};

class ForeignActions {
  public:
    explicit ForeignActions(Draft& draft) : m_draft(draft) {}

    void run() {
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) look(EventId::at(i));
        const Candidate* best = nullptr;
        for (const auto& [domain, candidate] : m_candidates) {
            if (!objectionTo(candidate).empty()) continue;
            if (best == nullptr || candidate.size() > best->size()) best = &candidate;
        }
        for (const auto& [domain, candidate] : m_candidates) {
            if (&candidate == best) {
                use(candidate, domain);
            } else {
                leave(candidate, domain,
                      best == nullptr ? objectionTo(candidate)
                                      : "another domain has more complete names for the same work");
            }
        }
    }

    // Ranges around communication that name what it is for.
    void addPipeliningsCommunication() {
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) {
            const auto id = EventId::at(i);
            const std::string_view name = m_draft.events.name(id);
            if (!name.starts_with("PP:")) continue;  // nearly all, before anything is looked up
            const trace::Event event = m_draft.events.event(id);
            const auto [known, isNew] = m_actions.try_emplace(event.name);
            if (isNew) {
                known->second = actionNamed(name);
                if (known->second && !isCommunication(known->second->kind)) known->second.reset();
            }
            if (!known->second || event.kind != trace::EventKind::Range ||
                event.flag == trace::EventFlag::OpenAtEnd ||
                m_draft.events.domain(id) == trace::categories::kDeviceAnnotation)
                continue;
            (void)m_arguments.read({});
            addMessage({id, &*known->second}, event, -1);
            m_draft.frameworkTransfers.push_back(id);
        }
    }

  private:
    using Candidate = std::vector<NamedRange>;

    void look(EventId id) {
        const trace::Event event = m_draft.events.event(id);
        if (event.kind != trace::EventKind::Range || event.flag == trace::EventFlag::OpenAtEnd)
            return;
        const auto [known, isNew] = m_actions.try_emplace(event.name);
        if (isNew) {
            known->second = actionNamed(m_draft.events.name(id));
            if (known->second && !isUsable(*known->second)) known->second.reset();
        }
        if (!known->second) return;
        const std::string_view domain = m_draft.events.domain(id);
        // The reader of markers has seen those; a profiler writes annotations again on the device.
        if (domain == schedule::markers::kTaskDomain ||
            domain == schedule::markers::kTransferDomain ||
            domain == trace::categories::kDeviceAnnotation)
            return;
        m_candidates[event.domain].push_back({id, &*known->second});
    }

    static bool isUsable(const Action& action) {
        return action.stage <= trace::kMaximumNumber &&
               action.microbatch <= trace::kMaximumNumber &&
               (isCompute(action.kind) || isCommunication(action.kind));
    }

    // Why these names are hardly a pipeline's work; empty where they are.
    [[nodiscard]] std::string objectionTo(const Candidate& candidate) const {
        std::map<std::pair<RankId, std::int32_t>, StageWork> work;
        bool overlaps = false;
        for (const NamedRange& range : candidate) {
            const RankId rank = m_draft.rankOf(m_draft.events.event(range.event));
            addWork(work, rank, *range.action);
            for (const Action& part : range.action->parts) {
                overlaps = true;
                addWork(work, rank, part);
            }
        }
        if (work.empty()) return "none is a forward or a backward";
        const auto whole = std::count_if(work.begin(), work.end(),
                                         [](const auto& of) { return of.second.isWhole(); });
        if (static_cast<double>(whole) >= kNearlyAll * static_cast<double>(work.size())) return {};
        const auto& [key, stage] = *std::find_if(
            work.begin(), work.end(), [](const auto& of) { return !of.second.isWhole(); });
        return fmt::format(
            "stage {} ran {} forward and {} backward, and their microbatches do not pair "
            "up as 0, 1, 2, ...{}",
            key.second, stage.forward.size(), stage.backward.size(),
            overlaps ? " (with those that overlap)" : "");
    }

    static void addWork(std::map<std::pair<RankId, std::int32_t>, StageWork>& work, RankId rank,
                        const Action& action) {
        if (isForward(action)) work[{rank, action.stage}].forward.insert(action.microbatch);
        if (isBackward(action)) work[{rank, action.stage}].backward.insert(action.microbatch);
    }

    void use(const Candidate& candidate, base::StringId domain) {
        for (const NamedRange& range : candidate) {
            const trace::Event event = m_draft.events.event(range.event);
            (void)m_arguments.read(m_draft.events.arguments(range.event));
            const std::int32_t iteration = m_arguments.integer32("iteration").value_or(-1);
            if (isCompute(range.action->kind)) {
                m_draft.found.tasks.push({m_draft.rankOf(event), range.event, iteration,
                                          range.action->stage, -1, range.action->microbatch,
                                          range.action->kind, event.span});
            } else {
                addMessage(range, event, iteration);
            }
        }
        note(candidate, "actions_recognised",
             fmt::format("{} in {} have names of pipeline actions (\"{}\") and pair up as forwards "
                         "and backwards; used as tasks",
                         counted(candidate), title(domain), example(candidate)));
    }

    void addMessage(const NamedRange& range, const trace::Event& event, std::int32_t iteration) {
        trace::Transfer transfer;
        transfer.rank = m_draft.rankOf(event);
        transfer.event = range.event;
        transfer.iteration = iteration;
        transfer.stage = range.action->stage;
        transfer.microbatch = range.action->microbatch;
        transfer.operation = operationOf(range.action->kind);
        transfer.dimension = trace::Dimension::Pp;
        transfer.bytes = std::max<std::int64_t>(m_arguments.integer("bytes").value_or(0), 0);
        transfer.span = event.span;
        transfer.action = range.action->kind;
        m_draft.found.transfers.push(transfer);
    }

    void leave(const Candidate& candidate, base::StringId domain, std::string_view why) {
        note(candidate, "actions_not_used",
             fmt::format("{} in {} look like pipeline actions (\"{}\"), but {}; not used (if they "
                         "are actions, write a rule: docs/importing.md)",
                         counted(candidate), title(domain), example(candidate), why));
    }

    void note(const Candidate& candidate, base::DiagnosticCode code, std::string_view text) {
        m_draft.diagnostics.add(code, text, static_cast<std::int64_t>(candidate.size()));
    }

    [[nodiscard]] static std::string counted(const Candidate& candidate) {
        return fmt::format("{} range{}", candidate.size(), candidate.size() == 1 ? "" : "s");
    }
    [[nodiscard]] std::string title(base::StringId domain) const {
        if (!domain.valid()) return "the default domain";
        return fmt::format("domain \"{}\"", base::printable(m_draft.events.text(domain), 80));
    }
    [[nodiscard]] std::string example(const Candidate& candidate) const {
        return base::printable(m_draft.events.name(candidate.front().event), 80);
    }

    Draft& m_draft;
    trace::Arguments m_arguments;
    std::unordered_map<base::StringId, std::optional<Action>> m_actions;  // by name
    std::map<base::StringId, Candidate> m_candidates;                     // by domain
};

}  // namespace

void readForeignActions(Draft& draft) {
    ForeignActions actions(draft);
    if (draft.found.tasks.empty()) {
        actions.run();
    } else {
        actions.addPipeliningsCommunication();
    }
}

}  // namespace pleat::annotate
