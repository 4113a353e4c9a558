#include "advise/pipeline_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/in_order_run.h"
#include "schedule/validate.h"

namespace pleat::advise {
namespace {

using schedule::Action;
using schedule::ActionKind;

constexpr std::int32_t kMostSlices = 64;  // of a stage's gradients: finer is not told apart

std::size_t at(std::int32_t value) { return static_cast<std::size_t>(value); }

double bytesPerNs(const LinkCosts& link) {
    return link.bytesPerSecond > 0 ? link.bytesPerSecond / 1e9 : kUnlimited;
}

class Maker {
  public:
    Maker(const schedule::Schedule& valid, const schedule::ActionIndex& index,
          const PipelineCosts& costs, const SyncPolicy& policy)
        : m_schedule(valid),
          m_index(index),
          m_context(index.context(valid)),
          m_costs(costs),
          m_policy(policy),
          m_iteration(valid.placement.stages(), valid.ranks()) {
        m_context.withCommunication = false;
    }

    PipelineWorkload make(std::int32_t iterations) && {
        std::size_t actions = 0;
        for (const auto& order : m_schedule.order) actions += order.size();
        m_made.workload.reserve(3 * actions * at(iterations), 3 * actions * at(iterations));
        m_made.placed.reserve(3 * actions * at(iterations));
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addRank(rank);
        for (std::int32_t i = 0; i < iterations; ++i) addIteration(i, i + 1 == iterations);
        return std::move(m_made);
    }

  private:
    struct RankResources {
        QueueId compute, sync;
        PortId out, in;
        std::vector<QueueId> messagesTo;  // [rank]; invalid before the first
    };
    // What the next iteration, or the rest of this one, has to wait for.
    struct IterationState {
        IterationState(std::int32_t stages, std::int32_t ranks)
            : synced(at(stages)), lastBackward(at(stages)), lastCompute(at(ranks)) {}
        std::vector<std::vector<OperationId>> synced;        // [stage] its syncs
        std::vector<std::vector<OperationId>> lastBackward;  // [stage] its last one, in slices
        std::vector<OperationId> lastCompute;                // [rank]
    };

    void addRank(std::int32_t number) {
        RankResources& rank = m_ranks.emplace_back();
        rank.messagesTo.resize(at(m_schedule.ranks()));
        Workload& workload = m_made.workload;
        const DeviceId device = workload.addDevice();
        rank.compute = workload.addCompute(device);
        m_made.queues.push_back({PlacedQueue::Kind::Compute, number});
        const auto portOf = [&](const LinkCosts& link) {
            return workload.addPort({device, bytesPerNs(link), link.slowdown});
        };
        rank.out = portOf(m_costs.pipeline);
        rank.in = portOf(m_costs.pipeline);
        const LinkCosts& data = m_costs.oneLink ? m_costs.pipeline : m_costs.data;
        std::vector<PortId> ports{rank.out, rank.in};
        if (!m_costs.oneLink) ports = {portOf(data), portOf(data)};
        rank.sync = workload.addStream(static_cast<double>(data.latency.ns), std::move(ports));
        m_made.queues.push_back({PlacedQueue::Kind::Sync, number});
    }

    OperationId note(OperationId id, const PlacedOperation& what) {
        m_made.placed.push_back(what);
        return id;
    }

    void addIteration(std::int32_t iteration, bool isLast) {
        const IterationState before = std::exchange(
            m_iteration, IterationState(m_schedule.placement.stages(), m_schedule.ranks()));
        m_number = iteration;
        m_operationAt.assign(at(m_schedule.ranks()), {});
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addCompute(rank, before);
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addDependencies(rank);
        const bool syncs = m_costs.replicas > 1 && (iteration + 1) % m_policy.everyIterations == 0;
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) {
            if (syncs) addSyncs(rank);
            if (m_policy.barrier || isLast) addOptimizers(rank);
        }
    }

    base::Duration lengthOf(const Action& action) const {
        const StageCosts& stage = m_costs.stages[at(action.stage)];
        switch (action.kind) {
            case ActionKind::Forward:
                return stage.forward;
            case ActionKind::FullBackward:
                return stage.backward;
            case ActionKind::InputBackward:
                return stage.inputBackward;
            case ActionKind::WeightBackward:
                return stage.weightBackward;
            case ActionKind::OverlapForwardBackward:
                return lengthOf(action.parts[0]) + lengthOf(action.parts[1]);
            default:
                return {};
        }
    }

    double slowness(std::int32_t rank) const {
        return m_costs.slownessOfRank.empty() ? 1 : m_costs.slownessOfRank[at(rank)];
    }

    template <class Visit>
    static void forEachPart(const Action& action, Visit visit) {
        if (action.parts.empty()) visit(action);
        for (const Action& part : action.parts) visit(part);
    }
    static bool givesGradients(const Action& part) {
        return part.kind == ActionKind::FullBackward || part.kind == ActionKind::WeightBackward;
    }

    void addCompute(std::int32_t rank, const IterationState& before) {
        const std::vector<Action>& order = m_schedule.order[at(rank)];
        m_lastBackward.assign(at(m_schedule.placement.stages()), 0);
        for (std::size_t i = 0; i < order.size(); ++i) {
            forEachPart(order[i], [&](const Action& part) {
                if (givesGradients(part)) m_lastBackward[at(part.stage)] = i;
            });
        }
        std::vector<bool> begun(at(m_schedule.placement.stages()), false);
        m_operationAt[at(rank)].resize(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (!schedule::isCompute(order[i].kind)) continue;
            beginStages(order[i], rank, before, begun);
            m_operationAt[at(rank)][i] = addAction(rank, i);
        }
    }

    // Before its first forward a stage needs its own parameters of the iteration before.
    void beginStages(const Action& action, std::int32_t rank, const IterationState& before,
                     std::vector<bool>& begun) {
        if (m_policy.barrier || m_number == 0) return;
        forEachPart(action, [&](const Action& part) {
            if (part.kind != ActionKind::Forward || begun[at(part.stage)]) return;
            begun[at(part.stage)] = true;
            addOptimizer(rank, part.stage, before.synced[at(part.stage)]);
        });
    }

    // First and last operation of an action: its last backward may be cut into slices.
    using FirstAndLast = std::pair<OperationId, OperationId>;

    FirstAndLast addAction(std::int32_t rank, std::size_t position) {
        const Action& action = m_schedule.order[at(rank)][position];
        const auto completes = [&](const Action& part) {
            return givesGradients(part) && m_lastBackward[at(part.stage)] == position;
        };
        std::int32_t slices = 1;
        if (m_policy.withinBackward) {
            forEachPart(action, [&](const Action& part) {
                if (completes(part)) slices = std::max(slices, slicesOf(part.stage));
            });
        }
        const double whole =
            static_cast<double>(lengthOf(action).ns + m_costs.overhead.ns) * slowness(rank);
        FirstAndLast ends;
        for (std::int32_t slice = 0; slice < slices; ++slice) {
            ends.second =
                note(m_made.workload.add(m_ranks[at(rank)].compute, whole / slices),
                     {m_number, action.stage, static_cast<std::int32_t>(position),
                      static_cast<std::uint16_t>(slice), static_cast<std::uint16_t>(slices)});
            if (slice == 0) ends.first = ends.second;
            forEachPart(action, [&](const Action& part) {
                if (completes(part))
                    m_iteration.lastBackward[at(part.stage)].push_back(ends.second);
            });
        }
        m_iteration.lastCompute[at(rank)] = ends.second;
        return ends;
    }

    void addDependencies(std::int32_t rank) {
        const std::vector<Action>& order = m_schedule.order[at(rank)];
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (!schedule::isCompute(order[i].kind)) continue;
            const OperationId id = m_operationAt[at(rank)][i].first;
            schedule::forEachDependency(order[i], m_context, [&](const Action& needed) {
                const auto position = m_index.find(needed);
                if (!position || position->rank == rank) return;  // its own rank runs in order
                const OperationId from =
                    m_operationAt[at(position->rank)][at(position->index)].second;
                const bool forward = needed.kind == ActionKind::Forward;
                const std::int32_t left = forward ? needed.stage : needed.stage - 1;
                const OperationId message =
                    addMessage(position->rank, rank, m_costs.stages[at(left)].messageBytes,
                               forward ? needed.stage + 1 : needed.stage - 1);
                m_made.workload.addDependency(from, message);
                m_made.workload.addDependency(message, id);
            });
        }
    }

    OperationId addMessage(std::int32_t from, std::int32_t to, std::int64_t bytes,
                           std::int32_t stage) {
        RankResources& sender = m_ranks[at(from)];
        QueueId& stream = sender.messagesTo[at(to)];
        if (!stream.valid()) {
            stream = m_made.workload.addStream(static_cast<double>(m_costs.pipeline.latency.ns),
                                               {sender.out, m_ranks[at(to)].in});
            m_made.queues.push_back({PlacedQueue::Kind::Messages, to});
        }
        return note(m_made.workload.add(stream, static_cast<double>(bytes)),
                    {m_number, stage, -1, 0, 1});
    }

    std::int32_t slicesOf(std::int32_t stage) const {
        const std::int64_t bytes = m_costs.stages[at(stage)].gradientBytes;
        if (m_policy.sliceBytes <= 0 || bytes <= m_policy.sliceBytes) return 1;
        return static_cast<std::int32_t>(std::min<std::int64_t>(
            kMostSlices, (bytes + m_policy.sliceBytes - 1) / m_policy.sliceBytes));
    }

    void addSyncs(std::int32_t rank) {
        const double ring = static_cast<double>(m_costs.replicas - 1) / m_costs.replicas;
        const bool inTwo = m_policy.collective == SyncCollective::ReduceScatterAllGather;
        for (const std::int32_t stage : m_schedule.placement.stagesOf(rank)) {
            const std::int32_t slices = slicesOf(stage);
            const double bytes =
                static_cast<double>(m_costs.stages[at(stage)].gradientBytes) / slices * ring;
            const auto& backward = m_iteration.lastBackward[at(stage)];
            for (std::int32_t slice = 0; slice < slices && !backward.empty(); ++slice) {
                const std::size_t piece =
                    std::min(backward.size() - 1, at(slice) * backward.size() / at(slices));
                const OperationId after =
                    m_policy.afterBackward ? m_iteration.lastCompute[at(rank)] : backward[piece];
                OperationId sync = addSync(rank, stage, inTwo ? bytes : 2 * bytes, after);
                if (inTwo) sync = addSync(rank, stage, bytes, sync);
                m_iteration.synced[at(stage)].push_back(sync);
            }
        }
    }

    OperationId addSync(std::int32_t rank, std::int32_t stage, double bytes, OperationId after) {
        const OperationId sync = note(
            m_made.workload.add(m_ranks[at(rank)].sync, bytes, m_policy.byPriority ? stage : 0),
            {m_number, stage, -1, 0, 1});
        m_made.workload.addDependency(after, sync);
        return sync;
    }

    // With a barrier every stage's waits for all syncs of the rank.
    void addOptimizers(std::int32_t rank) {
        std::vector<OperationId> all;
        for (const std::int32_t stage : m_schedule.placement.stagesOf(rank)) {
            const auto& synced = m_iteration.synced[at(stage)];
            all.insert(all.end(), synced.begin(), synced.end());
        }
        for (const std::int32_t stage : m_schedule.placement.stagesOf(rank))
            addOptimizer(rank, stage, m_policy.barrier ? all : m_iteration.synced[at(stage)]);
    }

    void addOptimizer(std::int32_t rank, std::int32_t stage,
                      const std::vector<OperationId>& after) {
        const double ns =
            static_cast<double>(m_costs.stages[at(stage)].optimizer.ns) * slowness(rank);
        const OperationId id =
            note(m_made.workload.add(m_ranks[at(rank)].compute, ns), {m_number, stage, -1, 0, 1});
        for (const OperationId sync : after) m_made.workload.addDependency(sync, id);
    }

    const schedule::Schedule& m_schedule;
    const schedule::ActionIndex& m_index;
    schedule::DependencyContext m_context;
    const PipelineCosts& m_costs;
    const SyncPolicy& m_policy;
    std::int32_t m_number = 0;  // of the iteration
    PipelineWorkload m_made;
    std::vector<RankResources> m_ranks;
    std::vector<std::vector<FirstAndLast>> m_operationAt;  // [rank][position], of this iteration
    std::vector<std::size_t>
        m_lastBackward;  // [stage] its position in the list of the rank at hand
    IterationState m_iteration;
};

}  // namespace

base::Result<PipelineWorkload> workloadOf(const schedule::Schedule& schedule,
                                          const PipelineCosts& costs, const SyncPolicy& policy,
                                          std::int32_t iterations) {
    if (costs.stages.size() != at(schedule.placement.stages())) {
        return base::Error{base::ErrorCode::Input,
                           fmt::format("the costs are of {} stages, the schedule has {}",
                                       costs.stages.size(), schedule.placement.stages())};
    }
    const base::Result<schedule::ActionIndex> index = schedule::validatedIndex(schedule);
    if (!index) return index.error();
    return Maker(schedule, *index, costs, policy).make(iterations);
}

}  // namespace pleat::advise
