#include <algorithm>
#include <map>

#include "graph/measured_draft.h"
#include "graph/timer_error.h"
#include "schedule/dependencies.h"

namespace pleat::graph {
namespace {

using base::Interval;
using base::TraceTime;
using schedule::Action;
using schedule::ActionKind;
using trace::RankId;

bool isReceive(const trace::Transfer& transfer) {
    return transfer.operation == trace::Operation::Receive;
}

bool isBackward(ActionKind kind) {
    return kind == ActionKind::FullBackward || kind == ActionKind::WeightBackward;
}

// Gradients across replicas. NCCL's kernels do not say that they are; within a backward or after
// it, such a collective of this dimension is.
bool isSync(const trace::Transfer& transfer) {
    if (transfer.action) return *transfer.action == ActionKind::ReduceGradient;
    return transfer.dimension == trace::Dimension::Dp &&
           (transfer.operation == trace::Operation::AllReduce ||
            transfer.operation == trace::Operation::ReduceScatter);
}

class Links {
  public:
    explicit Links(MeasuredDraft& draft) : m_draft(draft), m_placement(placementOf(draft.holder)) {}

    void run() {
        orderOnRanks();
        orderOnLanes();
        collectEnds();
        for (const TransferPart& part : m_draft.parts) linkTransfer(part);
        linkLateReceives();
        linkTasks();
        linkOptimizers();
        addTimerLinks(m_draft);
        linkWaits(trace::Operation::Send);
        linkWaits(trace::Operation::Receive);
        linkBegins();
    }

  private:
    static schedule::Placement placementOf(const std::map<std::int32_t, std::int32_t>& holder) {
        std::map<std::int32_t, std::int32_t> dense;  // pipeline coordinate -> 0, 1, …
        std::vector<std::int32_t> rankOfStage(
            holder.empty() ? 0 : static_cast<std::size_t>(holder.rbegin()->first) + 1, 0);
        for (const auto& [stage, pipelineRank] : holder) {
            const auto next = static_cast<std::int32_t>(dense.size());
            rankOfStage[static_cast<std::size_t>(stage)] =
                dense.try_emplace(pipelineRank, next).first->second;
        }
        return {std::max(1, static_cast<std::int32_t>(dense.size())), std::move(rankOfStage)};
    }

    void orderOnRanks() {
        for (const std::vector<Computed>& order : m_draft.computed) {
            for (std::size_t i = 1; i < order.size(); ++i)
                m_draft.addEdge(order[i - 1].last, order[i].first, EdgeReason::Order);
        }
    }

    // A thread does one thing after another, and so does a stream. Where a rank sends and receives
    // on the thread that computes, what it does next waits for that.
    struct OnLane {
        trace::EventId event;
        NodeId entry, exit;
    };

    void orderOnLanes() {
        std::map<trace::LaneId, std::vector<OnLane>> lanes;
        for (const TransferPart& part : m_draft.parts) {
            if (!part.transfer->event.valid()) continue;
            lanes[m_draft.trace.columns().lane[part.transfer->event.index()]].push_back(
                {part.transfer->event, part.entry, part.node});
        }
        for (const std::vector<Computed>& order : m_draft.computed) {
            for (const Computed& each : order) {
                if (!each.onItsLane) continue;
                const auto lane = lanes.find(m_draft.trace.columns().lane[each.event.index()]);
                if (lane != lanes.end())
                    lane->second.push_back({each.event, each.first, each.last});
            }
        }
        for (auto& [lane, items] : lanes) {
            std::stable_sort(items.begin(), items.end(),
                             [](const OnLane& a, const OnLane& b) { return a.event < b.event; });
            orderOnLane(items);
        }
    }

    // Each item follows those that ended before it. What lies within another is linked with that.
    void orderOnLane(const std::vector<OnLane>& items) {
        std::vector<const OnLane*> open;
        for (const OnLane& item : items) {
            const Interval span = m_draft.trace.event(item.event).span;
            while (!open.empty()) {
                const Interval before = m_draft.trace.event(open.back()->event).span;
                if (before.end >= span.end && before.end > span.begin) break;
                // Ranges that overlap by more than the ends of them ran side by side.
                const base::Duration shorter = std::min(before.length(), span.length());
                if (before.end <= span.begin || (before.end - span.begin).ns * 2 <= shorter.ns)
                    m_draft.addEdge(open.back()->exit, item.entry, EdgeReason::Inferred);
                open.pop_back();
            }
            open.push_back(&item);
        }
    }

    void collectEnds() {
        for (const TransferPart& part : m_draft.parts) {
            if (part.inTask >= 0) m_inTask[part.node] = part.inTask;
            if (isSync(*part.transfer))
                m_syncs[{part.transfer->rank, part.transfer->iteration}].push_back(part.node);
        }
        for (std::size_t r = 0; r < m_draft.computed.size(); ++r) {
            const std::vector<Computed>& order = m_draft.computed[r];
            for (const Computed& each : order) {
                m_position[each.first] = static_cast<std::size_t>(&each - order.data());
                const Node& node = m_draft.nodes[each.last];
                if (!m_draft.isOwn(node.iteration)) continue;
                if (node.kind == NodeKind::Phase) {
                    const auto& phase = m_draft.found.phases[static_cast<std::size_t>(node.source)];
                    if (phase.kind == trace::PhaseKind::Optimizer)
                        m_optimizers[{RankId::at(r), node.iteration}].push_back(each.first);
                } else {
                    noteBackward({RankId::at(r), node.iteration}, actionOf(node), each.last);
                }
            }
        }
    }

    using RankPass = std::pair<RankId, std::int32_t>;  // and iteration

    void noteBackward(RankPass of, const Action& action, NodeId last) {
        for (const Action& part : action.parts) noteBackward(of, part, last);
        if (!isBackward(action.kind)) return;
        NodeId& known = m_lastBackward[{of, action.stage}];
        if (!known.valid() || m_draft.nodes[known].measured.end <= m_draft.nodes[last].measured.end)
            known = last;
    }

    [[nodiscard]] Action actionOf(const Node& node) const {
        return m_draft.actionOf(
            m_draft.found.tasks[trace::TaskId::at(static_cast<std::size_t>(node.source))]);
    }

    void linkTransfer(const TransferPart& part) {
        const trace::Transfer& transfer = *part.transfer;
        const bool own = m_draft.isOwn(transfer.iteration);
        if (own && transfer.action == ActionKind::ReduceGradient) return linkSync(part);
        if (own && transfer.action && isCommunication(*transfer.action)) {
            if (!isReceive(transfer)) linkSend(part);
            return;
        }
        linkByTime(part);
    }

    void linkSync(const TransferPart& part) {
        const trace::Transfer& transfer = *part.transfer;
        const auto backward =
            m_lastBackward.find({{transfer.rank, transfer.iteration}, transfer.stage});
        if (part.inTask < 0 && backward != m_lastBackward.end())
            m_draft.addEdge(backward->second, part.entry, EdgeReason::Rule);
        const auto optimizers = m_optimizers.find({transfer.rank, transfer.iteration});
        if (optimizers == m_optimizers.end()) return;
        for (const NodeId optimizer : optimizers->second)
            m_draft.addEdge(part.node, optimizer, EdgeReason::Inferred);
    }

    void linkSend(const TransferPart& part) {
        const trace::Transfer& transfer = *part.transfer;
        const MeasuredDraft::Pass of = passOf(transfer.rank, transfer.iteration);
        const Action send{transfer.stage, *transfer.action, transfer.microbatch, {}};
        // What a send needs never depends on where stages lie.
        const schedule::Placement anywhere;
        forEachDependency(send, context(of, anywhere), [&](const Action& needed) {
            const auto ends = m_draft.find(of, needed);
            if (!ends || m_draft.nodes[ends->last].source == part.inTask) return;
            m_draft.addEdge(ends->last, part.entry, EdgeReason::Rule);
            linkTrailing(part, m_draft.nodes[ends->last].measured.end);
        });
    }

    // What a stage sends is complete when the collectives that its task ends with are done: a
    // tensor-parallel all-reduce follows the last kernel of a layer that computes.
    void linkTrailing(const TransferPart& send, TraceTime taskEnd) {
        const trace::Transfer& sent = *send.transfer;
        for (const TransferPart* part = &send; part != m_draft.parts.data();) {
            const trace::Transfer& before = *(--part)->transfer;
            if (before.rank != sent.rank || before.span.end + m_draft.resolution < taskEnd) return;
            const bool completes = before.dimension == trace::Dimension::Tp ||
                                   before.dimension == trace::Dimension::Ep ||
                                   before.dimension == trace::Dimension::Cp;
            if (completes && !isMessage(before.operation) &&
                before.span.begin + m_draft.resolution >= taskEnd &&
                before.span.end <= sent.span.begin + m_draft.resolution)
                m_draft.addEdge(part->node, send.entry, EdgeReason::Inferred);
        }
    }

    // A receive is posted ahead, or once its rank has computed what comes before: where it is what
    // a message waited for, that is what it was late by. Nothing recorded names the task; of those
    // that had ended the last one explains most. Timers of some engines begin on both ends when
    // data begins to move: which end is some nanoseconds later says nothing then.
    void linkLateReceives() {
        const auto explained = m_draft.explainedTimes();
        for (const TransferPart& part : m_draft.parts) {
            const trace::Transfer& transfer = *part.transfer;
            const TraceTime begin = m_draft.clip(transfer.span).begin;
            if (!isReceive(transfer) || !transfer.action ||
                (part.entry == part.node && !part.buffered) || part.inTask >= 0 ||
                m_draft.nodes[part.entry].measured.begin - begin > togetherWithin(transfer.rank))
                continue;
            const Computed* before = lastEndedBy(transfer.rank, begin, consumerOf(transfer));
            if (before != nullptr && before->span.end > explained[part.entry])
                m_draft.addEdge(before->last, part.entry, EdgeReason::Inferred);
        }
    }

    // Begins on two ranks that are no further apart are one moment, as far as can be told.
    [[nodiscard]] base::Duration togetherWithin(RankId rank) const {
        return std::max({kOfATimer, m_draft.resolution,
                         m_draft.trace.ranks()[rank].clockBound.value_or(base::Duration{})});
    }

    // The task that a message is for.
    [[nodiscard]] NodeId consumerOf(const trace::Transfer& message) const {
        const MeasuredDraft::Pass of = passOf(message.rank, message.iteration);
        const bool forward = *message.action == ActionKind::ReceiveForward;
        for (const ActionKind kind : {forward ? ActionKind::Forward : ActionKind::InputBackward,
                                      ActionKind::FullBackward}) {
            const auto ends = m_draft.find(of, {message.stage, kind, message.microbatch, {}});
            if (ends) return ends->first;
            if (forward) break;
        }
        return {};
    }

    // An engine may let its sends run on and wait for them at the end: where messages of the rank
    // ended in the pause before its optimizer, that waited for them. Nothing recorded says so.
    void linkOptimizers() {
        const auto explained = m_draft.explainedTimes();
        for (const TransferPart& part : m_draft.parts) {
            const auto optimizers =
                m_optimizers.find({part.transfer->rank, part.transfer->iteration});
            if (optimizers == m_optimizers.end() || !isMessage(part.transfer->operation)) continue;
            for (const NodeId optimizer : optimizers->second) {
                const TraceTime end = m_draft.nodes[part.node].measured.end;
                if (end > explained[optimizer] && end <= m_draft.nodes[optimizer].measured.begin)
                    m_draft.addEdge(part.node, optimizer, EdgeReason::Inferred);
            }
        }
    }

    [[nodiscard]] MeasuredDraft::Pass passOf(RankId rank, std::int32_t iteration) const {
        return {m_draft.replica[rank.index()], iteration};
    }

    // An engine that never computes while such a message is on its way waits for each of them,
    // though only its own order says so: the task after a batch of sends and receives waits for
    // all of them, not only for the message it needs.
    void linkWaits(trace::Operation operation) {
        std::vector<std::pair<const TransferPart*, const Computed*>> waits;
        std::size_t besides = 0;
        for (const TransferPart& part : m_draft.parts) {
            const trace::Transfer& transfer = *part.transfer;
            if (transfer.operation != operation || part.inTask >= 0) continue;
            const Computed* next = firstBegunAfter(transfer.rank, transfer.span.begin);
            if (next == nullptr) continue;
            const base::Duration within{std::max(
                m_draft.resolution.ns,
                std::min(togetherWithin(transfer.rank).ns, transfer.span.length().ns / 4))};
            const bool before = next != m_draft.computed[transfer.rank.index()].data() &&
                                (next - 1)->span.end > transfer.span.begin + within;
            if (before || next->span.begin + within < transfer.span.end) ++besides;
            waits.emplace_back(&part, next);
        }
        if (besides * 100 > waits.size()) return;
        for (const auto& [part, next] : waits) {
            if (part->transfer->span.end <= next->span.begin + m_draft.resolution)
                m_draft.addEdge(part->node, next->first, EdgeReason::Inferred);
        }
    }

    [[nodiscard]] const Computed* firstBegunAfter(RankId rank, TraceTime time) const {
        const auto& order = m_draft.computed[rank.index()];
        const auto next =
            std::lower_bound(order.begin(), order.end(), time,
                             [](const Computed& c, TraceTime t) { return c.span.begin < t; });
        return next == order.end() ? nullptr : &*next;
    }

    // Nothing recorded says that an iteration waits for the one before on all ranks, as at a
    // barrier. Where no rank ever begins anything of an iteration before all have done the one
    // before, one that begins soon after the last of them waited for it.
    void linkBegins() {
        if (m_draft.windows.size() == 1 || anyRunsAhead()) return;
        const auto explained = m_draft.explainedTimes();
        for (std::size_t w = 1; w < m_draft.windows.size(); ++w) {
            const std::vector<const Computed*> lasts = lastsOf(m_draft.windows[w - 1].iteration);
            TraceTime end = m_draft.window.begin;
            for (const Computed* last : lasts) end = std::max(end, last->span.end);
            for (const auto& order : m_draft.computed) {
                const Computed* first = firstOf(order, m_draft.windows[w].iteration);
                if (first == nullptr) continue;
                const TraceTime begin = first->span.begin, known = explained[first->first];
                if (end <= known || (begin - end).ns * 2 >= (begin - known).ns) continue;
                for (const Computed* last : lasts)
                    m_draft.addEdge(last->last, first->first, EdgeReason::Inferred);
            }
        }
    }

    // Has a rank begun an iteration, if only by waiting for a message, before all had ended the
    // one before?
    [[nodiscard]] bool anyRunsAhead() const {
        std::map<std::int32_t, TraceTime> begins;
        const auto note = [&](std::int32_t iteration, TraceTime begin) {
            const auto [known, isNew] = begins.try_emplace(iteration, begin);
            if (!isNew) known->second = std::min(known->second, begin);
        };
        for (const auto& order : m_draft.computed) {
            for (const Computed& each : order) note(iterationOf(each), each.span.begin);
        }
        for (const TransferPart& part : m_draft.parts)
            note(part.transfer->iteration, part.transfer->span.begin);
        for (std::size_t w = 1; w < m_draft.windows.size(); ++w) {
            const auto begin = begins.find(m_draft.windows[w].iteration);
            if (begin == begins.end()) continue;
            for (const Computed* last : lastsOf(m_draft.windows[w - 1].iteration)) {
                if (begin->second + m_draft.resolution < last->span.end) return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::vector<const Computed*> lastsOf(std::int32_t iteration) const {
        std::vector<const Computed*> lasts;
        for (const auto& order : m_draft.computed) {
            if (const Computed* last = lastOf(order, iteration)) lasts.push_back(last);
        }
        return lasts;
    }

    [[nodiscard]] std::int32_t iterationOf(const Computed& computed) const {
        return m_draft.nodes[computed.first].iteration;
    }
    // The first and the last of a rank's work in an iteration; its order has them in turn.
    [[nodiscard]] const Computed* firstOf(const std::vector<Computed>& order,
                                          std::int32_t iteration) const {
        const auto first = std::partition_point(
            order.begin(), order.end(),
            [&](const Computed& each) { return iterationOf(each) < iteration; });
        return first == order.end() || iterationOf(*first) != iteration ? nullptr : &*first;
    }
    [[nodiscard]] const Computed* lastOf(const std::vector<Computed>& order,
                                         std::int32_t iteration) const {
        const auto next = std::partition_point(
            order.begin(), order.end(),
            [&](const Computed& each) { return iterationOf(each) <= iteration; });
        if (next == order.begin() || iterationOf(*std::prev(next)) != iteration) return nullptr;
        return &*std::prev(next);
    }

    // What the rank computed last before `time`, of what comes before `limit` in its order.
    [[nodiscard]] const Computed* lastEndedBy(RankId rank, TraceTime time,
                                              NodeId limit = {}) const {
        const auto& order = m_draft.computed[rank.index()];
        const TraceTime latest = time + m_draft.resolution;
        auto candidate =
            std::upper_bound(order.begin(), order.end(), latest,
                             [](TraceTime t, const Computed& c) { return t < c.span.begin; });
        if (limit.valid()) {
            candidate = std::min(candidate,
                                 order.begin() + static_cast<std::ptrdiff_t>(m_position.at(limit)));
        }
        while (candidate != order.begin()) {
            --candidate;
            if (candidate->span.end <= latest) return &*candidate;
        }
        return nullptr;
    }

    // Nothing says what it belongs to: between what its rank computed before and after.
    void linkByTime(const TransferPart& part) {
        if (part.blocked) return;
        const Interval span = m_draft.clip(part.transfer->span);
        const auto& order = m_draft.computed[part.transfer->rank.index()];
        const Computed* before = lastEndedBy(part.transfer->rank, span.begin);
        const TraceTime earliest = span.end - m_draft.resolution;
        auto after =
            std::lower_bound(order.begin(), order.end(), earliest,
                             [](const Computed& c, TraceTime t) { return c.span.begin < t; });
        while (before != nullptr && after != order.end() && &*after <= before) ++after;
        if (after != order.end()) m_draft.addEdge(part.node, after->first, EdgeReason::Inferred);
        if (before != nullptr && part.inTask < 0)
            m_draft.addEdge(before->last, part.entry, EdgeReason::Inferred);
        if (!isMessage(part.transfer->operation)) linkAfterSyncs(part, span.begin);
    }

    // A collective of other than gradients, such as that of their norm, comes after them.
    void linkAfterSyncs(const TransferPart& part, TraceTime begin) {
        const auto syncs = m_syncs.find({part.transfer->rank, part.transfer->iteration});
        if (part.inTask >= 0 || syncs == m_syncs.end()) return;
        for (const NodeId sync : syncs->second) {
            if (m_draft.nodes[sync].measured.end <= begin + m_draft.resolution)
                m_draft.addEdge(sync, part.entry, EdgeReason::Inferred);
        }
    }

    void linkTasks() {
        for (std::size_t r = 0; r < m_draft.computed.size(); ++r) {
            for (const Computed& computed : m_draft.computed[r]) {
                const Node& node = m_draft.nodes[computed.first];
                if (node.kind != NodeKind::Task || !m_draft.isOwn(node.iteration)) continue;
                linkTask(passOf(RankId::at(r), node.iteration), actionOf(node), computed.first);
            }
        }
    }

    void linkTask(MeasuredDraft::Pass of, const Action& action, NodeId id) {
        forEachDependency(action, context(of, m_placement), [&](const Action& needed) {
            if (const auto ends = m_draft.find(of, needed)) {
                // A message that is received within the task is linked with its pieces.
                const auto within = m_inTask.find(ends->last);
                if (within == m_inTask.end() || within->second != m_draft.nodes[id].source)
                    m_draft.addEdge(ends->last, id, EdgeReason::Rule);
                return;
            }
            // The message was not recorded: what its sender had to compute stands for it.
            if (needed.kind == ActionKind::ReceiveForward) {
                addEdgeFrom(of, {needed.stage - 1, ActionKind::Forward, needed.microbatch, {}}, id);
            } else if (needed.kind == ActionKind::ReceiveBackward) {
                const bool split = isSplit(of, needed.stage + 1, needed.microbatch);
                addEdgeFrom(of,
                            {needed.stage + 1,
                             split ? ActionKind::InputBackward : ActionKind::FullBackward,
                             needed.microbatch,
                             {}},
                            id);
            }
        });
    }

    void addEdgeFrom(MeasuredDraft::Pass of, const Action& needed, NodeId to) {
        if (const auto ends = m_draft.find(of, needed))
            m_draft.addEdge(ends->last, to, EdgeReason::Rule);
    }

    [[nodiscard]] schedule::DependencyContext context(MeasuredDraft::Pass of,
                                                      const schedule::Placement& placement) const {
        return {placement, m_draft.microbatches, true,
                [this, of](std::int32_t stage, std::int32_t microbatch) {
                    return isSplit(of, stage, microbatch);
                }};
    }

    [[nodiscard]] bool isSplit(MeasuredDraft::Pass of, std::int32_t stage,
                               std::int32_t microbatch) const {
        return m_draft.find(of, {stage, ActionKind::InputBackward, microbatch, {}}).has_value();
    }

    MeasuredDraft& m_draft;
    const schedule::Placement m_placement;
    std::map<std::pair<RankPass, std::int32_t>, NodeId> m_lastBackward;  // of a rank's stage
    std::map<RankPass, std::vector<NodeId>> m_optimizers, m_syncs;
    std::unordered_map<NodeId, std::size_t> m_position;  // of a task in its rank's order
    std::unordered_map<NodeId, std::int32_t> m_inTask;   // receives within a task
};

}  // namespace

void MeasuredDraft::addEdge(NodeId from, NodeId to, EdgeReason reason) {
    if (from == to) return;
    const Interval before = nodes[from].measured;
    const Interval after = nodes[to].measured;
    const bool inOrder = before.begin <= after.begin && before.end <= after.end;
    const base::Duration overlap = before.end - after.begin;
    if (!inOrder && overlap > resolution) {
        if (reason == EdgeReason::Inferred) return;
        ++contradictions.count;
        if (overlap > contradictions.overlap)
            contradictions = {contradictions.count, from, to, overlap};
        return;
    }
    edges.push_back({from, to, reason});
}

base::IdVector<NodeTag, TraceTime> MeasuredDraft::explainedTimes() const {
    base::IdVector<NodeTag, TraceTime> explained(nodes.size(), window.begin);
    for (const Edge& edge : edges)
        explained[edge.to] = std::max(explained[edge.to], nodes[edge.from].measured.end);
    return explained;
}

void addLinks(MeasuredDraft& draft) { Links(draft).run(); }

}  // namespace pleat::graph
