#include "annotate/marker_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "annotate/action_names.h"
#include "schedule/markers.h"
#include "trace/arguments.h"

namespace pleat::annotate {
namespace {

using schedule::Action;
using schedule::ActionKind;
using trace::EventId;
using trace::RankId;
namespace markers = schedule::markers;

// What a name means; worked out once per distinct text.
struct Meaning {
    std::optional<Action> action;
    std::optional<trace::Operation> operation;
};

class MarkerReader {
  public:
    explicit MarkerReader(const trace::Trace& events)
        : m_events(events), m_draft{events, events.ranks(), {}, {}, {}} {}

    Draft run() && {
        m_taskDomain = m_events.columns().strings.find(markers::kTaskDomain);
        m_transferDomain = m_events.columns().strings.find(markers::kTransferDomain);
        for (std::size_t i = 0; i < m_events.eventCount(); ++i) read(EventId::at(i));
        reportDuplicateRanks();
        finishGroups();
        return std::move(m_draft);
    }

  private:
    void read(EventId id) {
        const base::StringId domain = m_events.columns().domain[id.index()];
        if (!domain.valid()) return;
        const bool isTask = domain == m_taskDomain;
        if (!isTask && domain != m_transferDomain) return;
        const trace::Event event = m_events.event(id);
        if (!m_arguments.read(m_events.arguments(id))) {
            note("unreadable_arguments", [&] {
                return fmt::format("{}: \"{}\" is not a JSON object", where(id),
                                   m_events.arguments(id));
            });
        }
        if (event.kind == trace::EventKind::Mark) return readMark(id);
        const std::string_view name = m_events.name(id);
        if (isTask && (name == markers::kIteration || name == markers::kDataLoading ||
                       name == markers::kOptimizer)) {
            return readPhase(id, event, name);
        }
        const Meaning& meaning = meaningOf(event.name);
        if (isTask && meaning.action && isCompute(meaning.action->kind)) {
            return readTask(id, event, *meaning.action);
        }
        if (isTask && meaning.action && meaning.action->kind == ActionKind::Reshard) return;
        // Programs that know only one domain name their messages here as well.
        if (!isTask || meaning.action) return readTransfer(id, event, meaning);
        note("unknown_marker", [&] { return where(id); });
    }

    const Meaning& meaningOf(base::StringId name) {
        const auto [found, isNew] = m_meanings.try_emplace(name);
        if (isNew) {
            const std::string_view text = m_events.text(name);
            found->second.action = actionNamed(text);
            found->second.operation = trace::parseOperation(text);
        }
        return found->second;
    }

    bool closed(EventId id, const trace::Event& event) {
        if (event.flag != trace::EventFlag::OpenAtEnd) return true;
        note("open_task", [&] { return fmt::format("{} without an end", where(id)); });
        return false;
    }

    void readTask(EventId id, const trace::Event& event, const Action& action) {
        if (!closed(id, event)) return;
        trace::Task task;
        task.rank = rankOf(event);
        task.event = id;
        task.iteration = m_arguments.integer32("iteration").value_or(-1);
        task.chunk = m_arguments.integer32("chunk").value_or(-1);
        task.stage = action.stage;
        task.microbatch = action.microbatch;
        task.kind = action.kind;
        task.span = event.span;
        m_draft.found.tasks.push(task);
    }

    void readPhase(EventId id, const trace::Event& event, std::string_view name) {
        const std::int32_t iteration = m_arguments.integer32("iteration").value_or(-1);
        if (name == markers::kIteration) {
            const trace::IterationSpan span{rankOf(event), id, iteration, event.span};
            m_draft.enclosing.push_back(span);
            if (closed(id, event)) m_draft.found.iterations.push_back(span);
            return;
        }
        if (!closed(id, event)) return;
        const trace::PhaseKind kind = name == markers::kOptimizer ? trace::PhaseKind::Optimizer
                                                                  : trace::PhaseKind::DataLoading;
        m_draft.found.phases.push_back({rankOf(event), id, iteration, kind, event.span});
    }

    void readTransfer(EventId id, const trace::Event& event, const Meaning& meaning) {
        const auto named = m_arguments.text("operation");
        if (!named && !meaning.action && !meaning.operation) {
            return note("unknown_marker", [&] { return where(id); });
        }
        if (!closed(id, event)) return;
        trace::Transfer transfer;
        transfer.rank = rankOf(event);
        transfer.event = id;
        transfer.span = event.span;
        transfer.iteration = m_arguments.integer32("iteration").value_or(-1);
        transfer.stage = m_arguments.integer32("stage").value_or(-1);
        transfer.chunk = m_arguments.integer32("chunk").value_or(-1);
        transfer.microbatch = m_arguments.integer32("microbatch").value_or(-1);
        transfer.bytes = m_arguments.integer("bytes").value_or(0);
        transfer.sequence = m_arguments.integer("sequence").value_or(-1);
        transfer.peer = m_arguments.integer32("peer").value_or(-1);
        if (meaning.action) {
            transfer.action = meaning.action->kind;
            transfer.stage = meaning.action->stage;
            transfer.microbatch = meaning.action->microbatch;
        }
        transfer.operation = operationFrom(named, meaning);
        transfer.dimension = dimensionFrom(transfer);
        if (const auto group = m_arguments.integer("group"); group && *group >= 0) {
            transfer.group = groupOf(*group, transfer.dimension, transfer.rank);
        }
        if (!named || !m_arguments.integer("group") || transfer.sequence < 0) {
            note("fields_guessed", [&] {
                return fmt::format("{}: operation, group or sequence is not recorded", where(id));
            });
        }
        m_draft.found.transfers.push(transfer);
    }

    static trace::Operation operationFrom(std::optional<std::string_view> named,
                                          const Meaning& meaning) {
        if (named) return trace::parseOperation(*named).value_or(trace::Operation::Other);
        if (meaning.action) return operationOf(meaning.action->kind);
        return meaning.operation.value_or(trace::Operation::Other);
    }

    trace::Dimension dimensionFrom(const trace::Transfer& transfer) const {
        if (const auto named = m_arguments.text("dimension")) {
            return trace::parseDimension(*named).value_or(trace::Dimension::Other);
        }
        if (!transfer.action) return trace::Dimension::Other;
        return isCommunication(*transfer.action) ? trace::Dimension::Pp : trace::Dimension::Dp;
    }

    void readMark(EventId id) {
        const std::string_view name = m_events.name(id);
        const RankId rank = rankOf(m_events.event(id));
        if (name == markers::kRank) return readRankMark(id, rank);
        if (name != markers::kProcessGroup) {
            return note("unknown_marker", [&] { return where(id); });
        }
        const auto native = m_arguments.integer("group");
        if (!native || *native < 0) {
            return note("unreadable_arguments",
                        [&] { return fmt::format("{} has no group", where(id)); });
        }
        const auto dimension = trace::parseDimension(m_arguments.text("dimension").value_or(""));
        const trace::GroupId groupId =
            groupOf(*native, dimension.value_or(trace::Dimension::Other), rank);
        trace::ProcessGroup& group = m_draft.found.groups[groupId];
        group.size = std::max(group.size, m_arguments.integer32("size").value_or(0));
    }

    void readRankMark(EventId id, RankId rankId) {
        trace::Rank& rank = m_draft.ranks[rankId];
        const auto number = m_arguments.integer32("rank");
        if (number && rank.number >= 0 && rank.number != *number) {
            note("rank_conflict", [&] {
                return fmt::format(
                    "process {} on {} reports rank {}, but its environment says {}; using "
                    "the program's value",
                    rank.pid, rank.host, *number, rank.number);
            });
        }
        rank.number = number.value_or(rank.number);
        trace::Coordinates& at = rank.coordinates;
        at.dp = m_arguments.integer32("dp").value_or(at.dp);
        at.pp = m_arguments.integer32("pp").value_or(at.pp);
        at.tp = m_arguments.integer32("tp").value_or(at.tp);
        at.ep = m_arguments.integer32("ep").value_or(at.ep);
        at.cp = m_arguments.integer32("cp").value_or(at.cp);
        if (const auto device = m_arguments.text("device")) rank.device = *device;
        if (!number) {
            note("unreadable_arguments",
                 [&] { return fmt::format("{} has no rank number", where(id)); });
        }
    }

    // The group with this native id, made when it is new; `member` becomes one of its members.
    trace::GroupId groupOf(std::int64_t native, trace::Dimension dimension, RankId member) {
        const auto [found, isNew] = m_groups.try_emplace(native);
        if (isNew) found->second = m_draft.found.groups.push({native, dimension, 0, {}});
        trace::ProcessGroup& group = m_draft.found.groups[found->second];
        if (group.dimension == trace::Dimension::Other) group.dimension = dimension;
        // Events come lane by lane, so this keeps the list short; finishGroups does the rest.
        if (group.members.empty() || group.members.back() != member) {
            group.members.push_back(member);
        }
        return found->second;
    }

    void finishGroups() {
        for (trace::ProcessGroup& group : m_draft.found.groups) {
            std::sort(group.members.begin(), group.members.end());
            group.members.erase(std::unique(group.members.begin(), group.members.end()),
                                group.members.end());
            const auto seen = static_cast<std::int32_t>(group.members.size());
            if (group.size == 0 || group.size == seen) continue;
            note(seen < group.size ? base::DiagnosticCode("group_incomplete")
                                   : base::DiagnosticCode("group_conflict"),
                 fmt::format("group {} was announced with {} members, but {} were found",
                             group.nativeId, group.size, seen));
        }
    }

    // Two devices that one process worked on.
    static bool isSameProcess(const trace::Rank& a, const trace::Rank& b) {
        return a.oneOfSeveralDevices && b.oneOfSeveralDevices && a.pid == b.pid && a.host == b.host;
    }

    void reportDuplicateRanks() {
        std::map<std::int32_t, const trace::Rank*> byNumber;
        for (const trace::Rank& rank : m_draft.ranks) {
            if (rank.number < 0) continue;
            const auto [other, isNew] = byNumber.try_emplace(rank.number, &rank);
            if (isNew || isSameProcess(rank, *other->second)) continue;
            note("duplicate_rank", [&] {
                return fmt::format("process {} on {} and process {} on {} are both rank {}",
                                   other->second->pid, other->second->host, rank.pid, rank.host,
                                   rank.number);
            });
        }
    }

    RankId rankOf(const trace::Event& event) const { return m_events.lanes()[event.lane].rank; }

    std::string where(EventId id) const {
        const trace::Event event = m_events.event(id);
        return fmt::format("\"{}\" at {} ns in process {}", m_events.name(id), event.span.begin.ns,
                           m_events.ranks()[rankOf(event)].pid);
    }

    template <class Example>
    void note(base::DiagnosticCode code, const Example& example) {
        m_draft.diagnostics.add(code, example);
    }

    const trace::Trace& m_events;
    Draft m_draft;
    trace::Arguments m_arguments;  // of the event being read
    std::optional<base::StringId> m_taskDomain, m_transferDomain;
    std::unordered_map<base::StringId, Meaning> m_meanings;
    std::unordered_map<std::int64_t, trace::GroupId> m_groups;
};

}  // namespace

Draft readMarkers(const trace::Trace& events) { return MarkerReader(events).run(); }

}  // namespace pleat::annotate
