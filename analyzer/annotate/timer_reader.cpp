#include "annotate/timer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "annotate/arguments.h"
#include "annotate/timers.h"

namespace pleat::annotate {
namespace {

using schedule::ActionKind;
using trace::Operation;
using trace::RankId;

bool isForward(ActionKind kind) {
    return kind == ActionKind::SendForward || kind == ActionKind::ReceiveForward;
}

class TimerReader {
  public:
    explicit TimerReader(Draft& draft) : m_draft(draft), m_groups(draft) {}

    void run() {
        for (const trace::Rank& rank : m_draft.ranks)
            m_pipelineRanks = std::max(m_pipelineRanks, rank.coordinates.pp + 1);
        if (m_pipelineRanks == 0) return;
        for (std::size_t i = 0; i < m_draft.events.eventCount(); ++i) {
            const auto id = trace::EventId::at(i);
            const trace::Event event = m_draft.events.event(id);
            const auto [known, isNew] = m_meanings.try_emplace(event.name);
            if (isNew) known->second = timerNamed(m_draft.events.name(id));
            if (known->second != nullptr) read(id, event, *known->second);
        }
        nameMessages();
        for (const Message& message : m_messages) m_draft.found.transfers.push(message.transfer);
        m_groups.finish();
    }

  private:
    struct Message {
        trace::Transfer transfer;
        std::int64_t order = 0;
    };

    void read(trace::EventId id, const trace::Event& event, const Timer& timer) {
        if (event.kind != trace::EventKind::Range) return;
        if (!m_arguments.read(m_draft.events.arguments(id))) return;
        const auto step = m_arguments.integer32("step");
        if (!step) return;
        const RankId rank = m_draft.rankOf(event);
        const trace::Coordinates& at = m_draft.ranks[rank].coordinates;
        const std::int32_t chunk = std::max(m_arguments.integer32("model_chunk").value_or(0), 0);
        const std::int32_t stage = chunk * m_pipelineRanks + at.pp;
        const std::int32_t microbatch = m_arguments.integer32("mb_id").value_or(-1);
        if (timer.role == TimerRole::Phase) {
            m_draft.found.phases.push_back(
                {rank, id, *step, trace::PhaseKind::Optimizer, event.span});
        } else if (timer.role == TimerRole::Task && microbatch >= 0) {
            m_draft.found.tasks.push(
                {rank, id, *step, stage, chunk, microbatch, timer.action, event.span});
            m_stages = std::max(m_stages, stage + 1);
        } else if (timer.role == TimerRole::Message || timer.role == TimerRole::Collective) {
            trace::Transfer transfer;
            transfer.rank = rank;
            transfer.event = id;
            transfer.iteration = *step;
            transfer.operation = timer.operation;
            transfer.dimension = timer.dimension;
            // Gradients are what the schedule waits for; other collectives are no action of it.
            if (timer.role == TimerRole::Message || timer.operation == Operation::ReduceScatter)
                transfer.action = timer.action;
            transfer.span = event.span;
            if (timer.role == TimerRole::Message) {
                m_messages.push_back(
                    {transfer, m_arguments.integer("seq_id").value_or(event.span.begin.ns)});
                return;
            }
            transfer.stage = stage;
            transfer.chunk = chunk;
            joinGroup(transfer, timer, at);
            m_draft.found.transfers.push(transfer);
        }
    }

    // Whose collective it is, by what the members have in common.
    void joinGroup(trace::Transfer& transfer, const Timer& timer, const trace::Coordinates& at) {
        const bool embedding = timer.group == TimerGroup::Embedding;
        const std::string group = timer.group == TimerGroup::Stage
                                      ? fmt::format("dp: pp {}, tp {}", at.pp, at.tp)
                                  : embedding ? fmt::format("embedding: dp {}, tp {}", at.dp, at.tp)
                                              : fmt::format("tp: dp {}, pp {}", at.dp, at.pp);
        transfer.group = m_groups.join(group, transfer.dimension, 0, transfer.rank);
        transfer.sequence = m_repetitions[{transfer.rank, transfer.group, transfer.operation}]++;
        // Two kinds of collectives of one group are counted apart.
        transfer.sequence = transfer.sequence * 16 + static_cast<std::int64_t>(transfer.operation);
    }

    // Gives the k-th message of a kind the stage and microbatch of the k-th task that has one.
    void nameMessages() {
        using Key = std::tuple<RankId, std::int32_t, bool>;  // rank, step, forward
        std::map<Key, std::vector<const trace::Task*>> tasks;
        for (const trace::Task& task : m_draft.found.tasks)
            tasks[{task.rank, task.iteration, task.kind == ActionKind::Forward}].push_back(&task);
        for (auto& [key, list] : tasks) {
            std::sort(list.begin(), list.end(), [](const trace::Task* a, const trace::Task* b) {
                return a->span.begin < b->span.begin;
            });
        }
        std::sort(m_messages.begin(), m_messages.end(), [](const Message& a, const Message& b) {
            return std::tie(a.transfer.rank, a.transfer.iteration, a.transfer.action, a.order,
                            a.transfer.event) < std::tie(b.transfer.rank, b.transfer.iteration,
                                                         b.transfer.action, b.order,
                                                         b.transfer.event);
        });
        for (std::size_t first = 0; first < m_messages.size();) {
            const trace::Transfer& of = m_messages[first].transfer;
            const auto found = tasks.find({of.rank, of.iteration, isForward(*of.action)});
            std::size_t at = first;
            for (; at < m_messages.size() && m_messages[at].transfer.rank == of.rank &&
                   m_messages[at].transfer.iteration == of.iteration &&
                   m_messages[at].transfer.action == of.action;
                 ++at) {
            }
            if (found != tasks.end())
                nameMessages(std::span(m_messages).subspan(first, at - first), found->second);
            first = at;
        }
    }

    void nameMessages(std::span<Message> messages, const std::vector<const trace::Task*>& tasks) {
        std::size_t next = 0;
        for (const trace::Task* task : tasks) {
            if (!hasMessage(*task, *messages.front().transfer.action)) continue;
            if (next == messages.size()) break;
            trace::Transfer& transfer = messages[next++].transfer;
            transfer.stage = task->stage;
            transfer.chunk = task->chunk;
            transfer.microbatch = task->microbatch;
            m_draft.diagnostics.add(
                base::Severity::Info, "fields_guessed",
                "a message does not say its microbatch; taken from the order of tasks");
        }
    }

    [[nodiscard]] bool hasMessage(const trace::Task& task, ActionKind message) const {
        const bool first = task.stage == 0, last = task.stage + 1 == m_stages;
        switch (message) {
            case ActionKind::SendForward:
            case ActionKind::ReceiveBackward:
                return !last;
            default:
                return !first;
        }
    }

    Draft& m_draft;
    NamedGroups m_groups;
    Arguments m_arguments;
    std::unordered_map<base::StringId, const Timer*> m_meanings;
    std::vector<Message> m_messages;
    std::map<std::tuple<RankId, trace::GroupId, Operation>, std::int64_t> m_repetitions;
    std::int32_t m_pipelineRanks = 0, m_stages = 0;
};

}  // namespace

void readTimers(Draft& draft) { TimerReader(draft).run(); }

}  // namespace pleat::annotate
