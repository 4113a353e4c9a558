#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

#include "graph/measured_draft.h"
#include "trace/timer_names.h"

namespace pleat::graph {
namespace {

using base::Interval;
using base::TraceTime;
using schedule::Action;
using schedule::ActionKind;
using trace::RankId;

class Nodes {
  public:
    explicit Nodes(MeasuredDraft& draft) : m_draft(draft), m_names(draft.trace) {}

    void run() {
        numberReplicas();
        addTasks();
        addPhases();
        addTransfers();
        linkMessages();
        linkInner();
        joinEverybody();
        for (std::vector<Computed>& order : m_draft.computed) {
            std::stable_sort(order.begin(), order.end(), [](const Computed& a, const Computed& b) {
                return std::tie(a.span.begin, a.span.end) < std::tie(b.span.begin, b.span.end);
            });
        }
    }

  private:
    // Ranks that differ only in their pipeline coordinate make up one pipeline. One whose place is
    // not known is a pipeline of its own: four replicas of data-parallel training run the same
    // actions, and nobody waits for another's.
    void numberReplicas() {
        std::map<std::array<std::int32_t, 5>, std::uint32_t> known;
        std::int32_t number = 0;
        for (const trace::Rank& rank : m_draft.trace.ranks()) {
            const trace::Coordinates& at = rank.coordinates;
            const std::int32_t alone = at.pp < 0 ? ++number : 0;
            const auto next = static_cast<std::uint32_t>(known.size());
            m_draft.replica.push_back(
                known.try_emplace({at.dp, at.tp, at.ep, at.cp, alone}, next).first->second);
        }
    }

    // Calls visit(index) for what may have a part in the windows: what was recorded for their
    // iterations, and for the one before, which may have left something to do.
    template <class Visit>
    void forEach(std::span<const std::uint32_t> IterationItems::*of, Visit visit) const {
        std::vector<std::uint32_t> items;
        const auto add = [&](std::int32_t iteration) {
            const IterationItems found = m_draft.run.itemsOf(iteration);
            items.insert(items.end(), (found.*of).begin(), (found.*of).end());
        };
        add(m_draft.run.iterationBefore(m_draft.windows.front().iteration));
        for (const IterationWindow& window : m_draft.windows) add(window.iteration);
        std::sort(items.begin(), items.end());
        for (const std::uint32_t item : items) visit(std::size_t{item});
    }

    // What is wholly outside the window has no part in it. What an earlier iteration left to do
    // has: it holds up what follows.
    [[nodiscard]] bool belongs(std::int32_t iteration, Interval span) const {
        const Interval window = m_draft.window;
        if (m_draft.isOwn(iteration)) return span.begin <= window.end && span.end >= window.begin;
        return iteration >= 0 && iteration < m_draft.windows.front().iteration &&
               span.begin < window.end && span.end > window.begin;
    }

    NodeId addNode(NodeKind kind, RankId rank, std::int32_t iteration, Interval span,
                   std::size_t source) {
        Node node;
        node.kind = kind;
        node.rank = rank.valid() ? static_cast<std::int32_t>(rank.index()) : -1;
        node.iteration = iteration;
        node.measured = m_draft.clip(span);
        node.cut = node.measured != span;
        node.duration = node.measured.length();
        node.source = static_cast<std::int32_t>(source);
        return m_draft.nodes.push(node);
    }

    void addTasks() {
        const auto inner = m_draft.run.inner();
        auto next = inner.begin();
        forEach(&IterationItems::tasks, [&](std::size_t i) {
            const trace::Task& task = m_draft.found.tasks[trace::TaskId::at(i)];
            if (!belongs(task.iteration, task.span)) return;
            next = std::lower_bound(
                next, inner.end(), trace::TaskId::at(i),
                [](const InnerTransfer& each, trace::TaskId id) { return each.task < id; });
            auto last = next;
            while (last != inner.end() && last->task == trace::TaskId::at(i)) ++last;
            const auto ends = addPieces(i, {next, last});
            next = last;
            m_draft.computed[task.rank.index()].push_back({m_draft.clip(task.span), ends.first,
                                                           ends.last, task.event,
                                                           isItsEvent(task.event, task.span)});
            if (m_draft.isOwn(task.iteration)) registerAction(task, m_draft.actionOf(task), ends);
        });
    }

    // The task's own work before, between and after what began within it.
    MeasuredDraft::Ends addPieces(std::size_t source, std::span<const InnerTransfer> inner) {
        const trace::Task& task = m_draft.found.tasks[trace::TaskId::at(source)];
        std::vector<NodeId> pieces;
        TraceTime begin = task.span.begin;
        const auto close = [&](TraceTime end) {
            const NodeId id = addNode(NodeKind::Task, task.rank, task.iteration,
                                      {begin, std::max(begin, end)}, source);
            if (!pieces.empty()) m_draft.addEdge(pieces.back(), id, EdgeReason::Order);
            begin = std::max(begin, end);
            pieces.push_back(id);
            return id;
        };
        for (const InnerTransfer& each : inner) {
            const trace::Transfer& transfer = m_draft.found.transfers[each.transfer];
            if (!belongs(transfer.iteration, transfer.span)) continue;
            // One that began while the task was blocked by another follows what came before both.
            const bool open = pieces.empty() || transfer.span.begin >= begin;
            const NodeId before = open ? close(transfer.span.begin) : pieces.back();
            m_inner.push_back({each.transfer, before, false});
            if (each.blocked.empty() || each.blocked.end <= begin) continue;
            if (each.blocked.begin > begin) close(each.blocked.begin);
            begin = each.blocked.end;
            // The next node is the piece that follows.
            m_inner.push_back({each.transfer, NodeId::at(m_draft.nodes.size()), true});
        }
        close(task.span.end);
        describePieces(task, pieces);
        return {pieces.front(), pieces.back()};
    }

    void describePieces(const trace::Task& task, const std::vector<NodeId>& pieces) {
        std::int32_t piece = 0;
        for (const NodeId id : pieces) {
            Node& node = m_draft.nodes[id];
            node.action = task.kind;
            node.stage = task.stage;
            node.microbatch = task.microbatch;
            node.piece = piece++;
            node.pieces = static_cast<std::int32_t>(pieces.size());
        }
    }

    TransferPart* partOf(trace::TransferId id) {
        auto& parts = m_draft.parts;
        const auto part = std::lower_bound(
            parts.begin(), parts.end(), id,
            [](const TransferPart& each, trace::TransferId of) { return each.id < of; });
        return part == parts.end() || part->id != id ? nullptr : &*part;
    }

    [[nodiscard]] bool isItsEvent(trace::EventId event, Interval span) const {
        return event.valid() && m_draft.trace.event(event).span == span;
    }

    void registerAction(const trace::Task& task, const Action& action, MeasuredDraft::Ends ends) {
        for (const Action& part : action.parts) registerAction(task, part, ends);
        m_draft.name({m_draft.replica[task.rank.index()], task.iteration}, action, ends);
        m_draft.microbatches = std::max(m_draft.microbatches, action.microbatch + 1);
        if (action.stage >= 0)
            m_draft.holder[action.stage] = m_draft.trace.ranks()[task.rank].coordinates.pp;
    }

    void addPhases() {
        forEach(&IterationItems::phases, [&](std::size_t i) {
            const trace::Phase& phase = m_draft.found.phases[i];
            if (!belongs(phase.iteration, phase.span)) return;
            const NodeId id = addNode(NodeKind::Phase, phase.rank, phase.iteration, phase.span, i);
            m_draft.computed[phase.rank.index()].push_back({m_draft.nodes[id].measured, id, id,
                                                            phase.event,
                                                            isItsEvent(phase.event, phase.span)});
            if (isOfEverybody(phase)) m_common[phase.iteration][phase.rank].push_back(id);
        });
    }

    // Such as the norm of all gradients, to which every rank adds its part.
    [[nodiscard]] bool isOfEverybody(const trace::Phase& phase) {
        if (!phase.event.valid() || !m_draft.isOwn(phase.iteration)) return false;
        const trace::Timer* timer = m_names.of(phase.event);
        return timer != nullptr && timer->group == trace::TimerGroup::Everybody;
    }

    void joinEverybody() {
        if (m_common.empty()) return;
        for (std::vector<Computed>& order : m_draft.computed) {
            for (Computed& each : order) m_computedBy[each.last] = &each;
        }
        for (const auto& [iteration, ofRanks] : m_common) joinEverybody(iteration, ofRanks);
    }

    using OfRanks = std::map<RankId, std::vector<NodeId>>;

    // The n-th of each rank in an iteration belong together: they go on once all are there.
    void joinEverybody(std::int32_t iteration, const OfRanks& ofRanks) {
        for (std::size_t n = 0;; ++n) {
            std::vector<NodeId> members;
            TraceTime moment = m_draft.window.begin;
            for (const auto& [rank, ids] : ofRanks) {
                if (n >= ids.size()) continue;
                members.push_back(ids[n]);
                moment = std::max(moment, m_draft.nodes[ids[n]].measured.begin);
            }
            if (members.empty()) return;
            if (members.size() == 1) continue;
            const NodeId ready = addNode(NodeKind::Ready, RankId(), iteration, {moment, moment}, 0);
            m_draft.nodes[ready].source = -1;
            for (const NodeId member : members) {
                Node& node = m_draft.nodes[member];
                node.measured.begin = moment;
                node.measured.end = std::max(node.measured.end, moment);
                m_draft.addEdge(ready, member, EdgeReason::Order);
                m_computedBy.at(member)->first = ready;
            }
        }
    }

    void addTransfers() {
        forEach(&IterationItems::transfers, [&](std::size_t i) {
            const trace::Transfer& transfer = m_draft.found.transfers[trace::TransferId::at(i)];
            if (!belongs(transfer.iteration, transfer.span)) return;
            const bool receives = transfer.operation == trace::Operation::Receive;
            const trace::Transfer* send = bufferedSendOf(transfer);
            TraceTime begin = transfer.span.begin;
            if (send != nullptr) {
                if (receives) begin = std::max(begin, send->span.end);
            } else if (transfer.match.valid()) {
                begin = std::max(begin, m_draft.found.matches[transfer.match].ready);
            }
            const NodeId id = addNode(NodeKind::Transfer, transfer.rank, transfer.iteration,
                                      {begin, std::max(begin, transfer.span.end)}, i);
            describe(id, transfer);
            const bool together = transfer.match.valid() && send == nullptr;
            const NodeId entry = together ? readyNode(transfer) : id;
            if (entry != id) m_draft.addEdge(entry, id, EdgeReason::Order);
            m_draft.parts.push_back({&transfer, trace::TransferId::at(i), id, entry});
            if (send != nullptr) {
                m_draft.parts.back().buffered = true;
                (receives ? m_message[transfer.match].to : m_message[transfer.match].from) = id;
            }
            if (transfer.action && receives && m_draft.isOwn(transfer.iteration)) {
                m_draft.name({m_draft.replica[transfer.rank.index()], transfer.iteration},
                             {transfer.stage, *transfer.action, transfer.microbatch, {}}, {id, id});
            }
        });
    }

    // The send of the transfer's message, where it does not wait for the receive.
    [[nodiscard]] const trace::Transfer* bufferedSendOf(const trace::Transfer& transfer) const {
        if (!m_draft.run.sendsAreBuffered() || !transfer.match.valid() ||
            !isMessage(transfer.operation))
            return nullptr;
        if (transfer.operation == trace::Operation::Send) return &transfer;
        for (const trace::TransferId member : m_draft.found.matches[transfer.match].members) {
            const trace::Transfer& other = m_draft.found.transfers[member];
            if (other.operation == trace::Operation::Send) return &other;
        }
        return nullptr;
    }

    // What was sent into a buffer can be received once the send has ended.
    void linkMessages() {
        for (const auto& [match, message] : m_message) {
            if (message.from.valid() && message.to.valid())
                m_draft.addEdge(message.from, message.to, EdgeReason::Order);
        }
    }

    void describe(NodeId id, const trace::Transfer& transfer) {
        Node& node = m_draft.nodes[id];
        if (transfer.action) node.action = *transfer.action;
        node.dimension = transfer.dimension;
        node.stage = transfer.stage;
        node.microbatch = transfer.microbatch;
    }

    NodeId readyNode(const trace::Transfer& transfer) {
        NodeId& ready = m_ready[transfer.match];
        if (!ready.valid()) {
            const TraceTime moment = m_draft.found.matches[transfer.match].ready;
            ready = addNode(NodeKind::Ready, RankId(), transfer.iteration, {moment, moment},
                            transfer.match.index());
            describe(ready, transfer);
            m_draft.nodes[ready].stage = stageOfLast(transfer);
        }
        return ready;
    }

    // The stage that the communication waited for: its sender and its receiver have different ones.
    [[nodiscard]] std::int32_t stageOfLast(const trace::Transfer& transfer) const {
        const trace::Match& match = m_draft.found.matches[transfer.match];
        for (const trace::TransferId member : match.members) {
            const trace::Transfer& other = m_draft.found.transfers[member];
            if (other.rank == match.lastRank) return other.stage;
        }
        return transfer.stage;
    }

    // Where a transfer begins within a task, or a task goes on after it.
    struct Inner {
        trace::TransferId transfer;
        NodeId piece;
        bool follows = false;  // the piece follows the transfer; else it precedes it
    };

    void linkInner() {
        for (const Inner& each : m_inner) {
            TransferPart* part = partOf(each.transfer);
            if (part == nullptr) continue;
            part->inTask = m_draft.nodes[each.piece].source;
            part->blocked = part->blocked || each.follows;
            if (each.follows) {
                // The task goes on when it has ended, though timers of two streams may differ: a
                // kernel at 111.725 ms after an all-reduce that ends at 111.727 ms.
                const TraceTime goesOn = m_draft.nodes[each.piece].measured.begin;
                Interval& transfer = m_draft.nodes[part->node].measured;
                transfer.end = std::max(transfer.begin, std::min(transfer.end, goesOn));
                m_draft.addEdge(part->node, each.piece, EdgeReason::Order);
            } else {
                m_draft.addEdge(each.piece, part->entry, EdgeReason::Order);
            }
        }
    }

    MeasuredDraft& m_draft;
    std::vector<Inner> m_inner;
    std::map<std::int32_t, OfRanks> m_common;  // by iteration
    std::unordered_map<NodeId, Computed*> m_computedBy;
    trace::TimerNames m_names;
    std::unordered_map<trace::MatchId, NodeId> m_ready;
    // The ends of buffered messages. Ordered: so is what is made of them.
    struct Message {
        NodeId from, to;
    };
    std::map<trace::MatchId, Message> m_message;
};

}  // namespace

base::Interval MeasuredDraft::clip(Interval span) const {
    return {std::clamp(span.begin, window.begin, window.end),
            std::clamp(span.end, window.begin, window.end)};
}

Action MeasuredDraft::actionOf(const trace::Task& task) const {
    if (task.kind == ActionKind::OverlapForwardBackward) {
        if (auto action = schedule::parseAction(trace.name(task.event))) return *action;
    }
    return {task.stage, task.kind, task.microbatch, {}};
}

void addNodes(MeasuredDraft& draft) { Nodes(draft).run(); }

}  // namespace pleat::graph
