#include "annotate/timer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "annotate/order_alignment.h"
#include "annotate/order_numbers.h"
#include "annotate/timer_fields.h"
#include "trace/limits.h"

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
    explicit TimerReader(Draft& draft)
        : m_draft(draft), m_groups(draft), m_before(draft.found.transfers.size()) {}

    void run() {
        for (const trace::Rank& rank : m_draft.ranks) {
            if (rank.coordinates.pp < trace::kMaximumNumber)
                m_pipelineRanks = std::max(m_pipelineRanks, rank.coordinates.pp + 1);
        }
        if (m_pipelineRanks == 0) return;
        const std::vector<TimerFields> timers = readTimerFields(m_draft);
        if (timers.empty()) return;
        for (const TimerFields& timer : timers) add(timer);
        numberCollectives();
        nameMessages();
        for (const Message& message : m_messages) m_draft.found.transfers.push(message.transfer);
        m_groups.finish();
    }

  private:
    struct Message {
        trace::Transfer transfer;
        std::optional<std::int64_t> order;
    };

    void add(const TimerFields& fields) {
        const trace::Timer& timer = *fields.timer;
        if (timer.role == trace::TimerRole::Phase) {
            m_draft.found.phases.push_back(
                {fields.rank, fields.event, fields.step, trace::PhaseKind::Optimizer, fields.span});
        } else if (timer.role == trace::TimerRole::Task) {
            addTask(fields);
        } else if (timer.role == trace::TimerRole::Message ||
                   timer.role == trace::TimerRole::Collective) {
            addTransfer(fields);
        }
    }

    // -1 where its rank does not say its place, or there is no such stage.
    [[nodiscard]] std::int32_t stageOf(const TimerFields& fields) const {
        const std::int32_t pp = m_draft.ranks[fields.rank].coordinates.pp;
        const std::int64_t stage = std::int64_t{fields.chunk} * m_pipelineRanks + pp;
        return pp < 0 || fields.chunk < 0 || stage > trace::kMaximumNumber
                   ? -1
                   : static_cast<std::int32_t>(stage);
    }

    void addTask(const TimerFields& fields) {
        const std::int32_t stage = stageOf(fields);
        if (fields.microbatch < 0 || stage < 0) {
            m_draft.diagnostics.add("timer_incomplete", [&] {
                return fmt::format(
                    "\"{}\" at {} ns: neither its fields nor the rank's other timers give "
                    "its stage and microbatch; skipped",
                    fields.timer->name, fields.span.begin.ns);
            });
            return;
        }
        m_draft.found.tasks.push({fields.rank, fields.event, fields.step, stage, fields.chunk,
                                  fields.microbatch, fields.timer->action, fields.span});
        m_stages = std::max(m_stages, stage + 1);
    }

    void addTransfer(const TimerFields& fields) {
        const trace::Timer& timer = *fields.timer;
        trace::Transfer transfer;
        transfer.rank = fields.rank;
        transfer.event = fields.event;
        transfer.iteration = fields.step;
        transfer.operation = timer.operation;
        transfer.dimension = timer.dimension;
        // Gradients are what the schedule waits for; other collectives are no action of it.
        if (timer.role == trace::TimerRole::Message || timer.operation == Operation::ReduceScatter)
            transfer.action = timer.action;
        transfer.span = fields.span;
        if (timer.role == trace::TimerRole::Message) {
            m_messages.push_back({transfer, fields.sequence});
            return;
        }
        transfer.stage = stageOf(fields);
        transfer.chunk = fields.chunk;
        joinGroup(transfer, timer, m_draft.ranks[fields.rank].coordinates);
        // A duration that was negative, kept as an empty range: it is counted in the group's order,
        // but nothing says when this rank took part.
        if (fields.span.begin == fields.span.end) return;
        m_draft.found.transfers.push(transfer);
    }

    // Whose collective it is, by what the members have in common.
    void joinGroup(trace::Transfer& transfer, const trace::Timer& timer,
                   const trace::Coordinates& at) {
        const bool embedding = timer.group == trace::TimerGroup::Embedding;
        const std::string group =
            timer.group == trace::TimerGroup::Stage ? fmt::format("dp: pp {}, tp {}", at.pp, at.tp)
            : timer.group == trace::TimerGroup::Everybody ? std::string("everybody")
            : embedding ? fmt::format("embedding: dp {}, tp {}", at.dp, at.tp)
                        : fmt::format("tp: dp {}, pp {}", at.dp, at.pp);
        transfer.group = m_groups.join(group, transfer.dimension, 0, transfer.rank);
    }

    // The n-th of a step on each member; where some have fewer, what they lost is left out by the
    // steps and ends of the others.
    void numberCollectives() {
        std::map<std::pair<trace::GroupId, Operation>, CollectivesOfRanks> all;
        auto& transfers = m_draft.found.transfers;
        for (std::size_t i = m_before; i < transfers.size(); ++i) {
            const auto id = trace::TransferId::at(i);
            if (transfers[id].group.valid())
                all[{transfers[id].group, transfers[id].operation}][transfers[id].rank].push_back(
                    id);
        }
        for (auto& [key, ofRanks] : all) {
            for (const OrderNumber& one : numbersByIteration(m_draft, ofRanks)) {
                // Two kinds of collectives of one group are counted apart.
                transfers[one.transfer].sequence =
                    one.number * 16 + static_cast<std::int64_t>(key.second);
            }
        }
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
        const auto groupOf = [](const Message& message) {
            const trace::Transfer& of = message.transfer;
            return std::tuple(of.rank, of.iteration, of.action);
        };
        // Where one of them has lost its number, their begins are the order of all.
        std::set<std::tuple<RankId, std::int32_t, std::optional<ActionKind>>> unnumbered;
        for (const Message& message : m_messages)
            if (!message.order) unnumbered.insert(groupOf(message));
        for (Message& message : m_messages)
            if (unnumbered.contains(groupOf(message)))
                message.order = message.transfer.span.begin.ns;
        std::sort(m_messages.begin(), m_messages.end(), [&](const Message& a, const Message& b) {
            return std::tuple(groupOf(a), a.order, a.transfer.event) <
                   std::tuple(groupOf(b), b.order, b.transfer.event);
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
        std::vector<const trace::Task*> having;
        for (const trace::Task* task : tasks)
            if (hasMessage(*task, *messages.front().transfer.action)) having.push_back(task);
        const std::vector<std::ptrdiff_t> places = placesOf(messages, having);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (places[i] == kNoPartner) continue;
            const trace::Task& task = *having[static_cast<std::size_t>(places[i])];
            trace::Transfer& transfer = messages[i].transfer;
            transfer.stage = task.stage;
            transfer.chunk = task.chunk;
            transfer.microbatch = task.microbatch;
            m_draft.diagnostics.add(
                "fields_guessed",
                "a message does not give its microbatch; derived from the order of tasks");
        }
    }

    // Which task each message belongs to: the k-th to the k-th. Where some are missing, a number
    // within the step says which is left, else how messages lie beside the tasks.
    static std::vector<std::ptrdiff_t> placesOf(std::span<const Message> messages,
                                                const std::vector<const trace::Task*>& tasks) {
        std::vector<std::ptrdiff_t> places;
        const auto count = static_cast<std::ptrdiff_t>(tasks.size());
        for (const Message& message : messages) {
            const auto place = static_cast<std::ptrdiff_t>(*message.order);
            const bool ascends = places.empty() || place > places.back();
            if (messages.size() < tasks.size() && ascends && place >= 0 && place < count)
                places.push_back(place);
        }
        if (places.size() == messages.size()) return places;
        const bool sends = messages.front().transfer.operation == Operation::Send;
        std::vector<OrderedPart> beside, of;
        for (const trace::Task* task : tasks)
            beside.push_back({0, (sends ? task->span.end : task->span.begin).ns});
        for (const Message& message : messages) {
            const base::Interval span = message.transfer.span;
            of.push_back({0, (sends ? span.begin : span.end).ns});
        }
        if (messages.size() != tasks.size()) {
            if (const auto aligned = alignOrders(beside, of)) return aligned->partners;
        }
        places.clear();
        for (std::size_t i = 0; i < messages.size(); ++i)
            places.push_back(i < tasks.size() ? static_cast<std::ptrdiff_t>(i) : kNoPartner);
        return places;
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
    const std::size_t m_before;  // transfers that other readers found
    std::vector<Message> m_messages;
    std::int32_t m_pipelineRanks = 0, m_stages = 0;
};

}  // namespace

void readTimers(Draft& draft) { TimerReader(draft).run(); }

}  // namespace pleat::annotate
