#include "advise/pipeline_run.h"

#include <algorithm>
#include <utility>

#include "advise/pipeline_workload.h"
#include "base/interval_set.h"

namespace pleat::advise {
namespace {

using schedule::Action;
using schedule::ActionKind;
using Kind = PlacedQueue::Kind;

std::size_t at(std::int32_t value) { return static_cast<std::size_t>(value); }

// With a barrier every iteration is like the first. Without, syncs reach into the next one, whose
// own then reach farther; three are enough to settle in every case tried (a test compares them with
// eight).
std::int32_t iterationsFor(const SyncPolicy& policy) {
    return (policy.barrier ? 1 : 3) * policy.everyIterations + (policy.barrier ? 0 : 1);
}

class Summary {
  public:
    Summary(const schedule::Schedule& schedule, const PipelineCosts& costs,
            const SyncPolicy& policy, const PipelineWorkload& made, const OperationTimes& times)
        : m_schedule(schedule), m_costs(costs), m_policy(policy), m_made(made), m_times(times) {}

    PipelineRun run(std::int32_t iterations) {
        const std::int32_t period = m_policy.everyIterations;
        const base::TraceTime end = endOf(iterations - 1);
        const base::TraceTime before =
            iterations > period ? endOf(iterations - 1 - period) : base::TraceTime{};
        PipelineRun result;
        result.iteration = {(end - before).ns / period};
        double idle = 0;
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) {
            result.ranks.push_back(rankRun(rank, {before, end}));
            idle += static_cast<double>(result.ranks.back().idle.ns);
        }
        const double whole = static_cast<double>((end - before).ns) * m_schedule.ranks();
        result.idleFraction = whole > 0 ? idle / whole : 0;
        return result;
    }

  private:
    const PlacedQueue& queueOf(std::size_t operation) const {
        return m_made
            .queues[m_made.workload.operations()[OperationId::at(operation)].queue.index()];
    }

    // When its last compute or optimizer has ended. Where the optimizer comes before the next
    // forward, that of every iteration but the last belongs to the next one: it is left out.
    base::TraceTime endOf(std::int32_t iteration) const {
        base::TraceTime end;
        for (std::size_t i = 0; i < m_made.placed.size(); ++i) {
            const PlacedOperation& placed = m_made.placed[i];
            const bool counts = placed.position >= 0 || m_policy.barrier;
            if (counts && placed.iteration == iteration && queueOf(i).kind == Kind::Compute)
                end = std::max(end, m_times[OperationId::at(i)].end);
        }
        return end;
    }

    RankRun rankRun(std::int32_t rank, base::Interval window) {
        std::vector<base::Interval> busy, sync;
        for (std::size_t i = 0; i < m_made.placed.size(); ++i) {
            const PlacedQueue& queue = queueOf(i);
            if (queue.rank != rank || queue.kind == Kind::Messages) continue;
            const base::Interval span = intersect(m_times[OperationId::at(i)], window);
            if (!span.empty()) (queue.kind == Kind::Sync ? sync : busy).push_back(span);
        }
        const base::IntervalSet busySet(std::move(busy)), syncSet(std::move(sync));
        RankRun result;
        result.busy = busySet.total();
        result.idle = window.length() - result.busy;
        result.sync = syncSet.total();
        result.exposedSync = (syncSet - busySet).total();
        addMemory(rank, window, result);
        return result;
    }

    // Bytes of activations that an action keeps, or lets go when it has ended.
    std::int64_t keptBy(const Action& action, ActionKind kind) const {
        std::int64_t bytes = 0;
        const auto add = [&](const Action& part) {
            const bool isBackward =
                part.kind == ActionKind::FullBackward || part.kind == ActionKind::WeightBackward;
            if (kind == ActionKind::Forward ? part.kind == kind : isBackward)
                bytes += m_costs.stages[at(part.stage)].activationBytes;
        };
        add(action);
        for (const Action& part : action.parts) add(part);
        return bytes;
    }

    void addMemory(std::int32_t rank, base::Interval window, RankRun& result) const {
        std::int64_t bytes = 0;
        for (const std::int32_t stage : m_schedule.placement.stagesOf(rank))
            bytes += m_costs.stages[at(stage)].parameterBytes;
        std::vector<std::pair<base::TraceTime, std::int64_t>> changes;
        for (std::size_t i = 0; i < m_made.placed.size(); ++i) {
            const PlacedOperation& placed = m_made.placed[i];
            const base::Interval span = m_times[OperationId::at(i)];
            if (queueOf(i).rank != rank || placed.position < 0 || span.begin < window.begin)
                continue;
            const Action& action = m_schedule.order[at(rank)][at(placed.position)];
            const std::int64_t kept = placed.slice == 0 ? keptBy(action, ActionKind::Forward) : 0;
            const std::int64_t freed =
                placed.slice + 1 == placed.slices ? keptBy(action, ActionKind::FullBackward) : 0;
            if (kept != 0) changes.emplace_back(span.begin, kept);
            if (freed != 0) changes.emplace_back(span.end, -freed);
        }
        std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : a.second < b.second;
        });
        result.memory.push_back({window.begin, bytes});
        result.peakBytes = bytes;
        for (const auto& [time, change] : changes) {
            bytes += change;
            result.peakBytes = std::max(result.peakBytes, bytes);
            if (result.memory.back().time == time) {
                result.memory.back().bytes = bytes;
            } else {
                result.memory.push_back({time, bytes});
            }
        }
    }

    const schedule::Schedule& m_schedule;
    const PipelineCosts& m_costs;
    const SyncPolicy& m_policy;
    const PipelineWorkload& m_made;
    const OperationTimes& m_times;
};

}  // namespace

base::Result<PipelineRun> predict(const schedule::Schedule& schedule, const PipelineCosts& costs,
                                  const SyncPolicy& policy) {
    const std::int32_t iterations = iterationsFor(policy);
    const base::Result<PipelineWorkload> made = workloadOf(schedule, costs, policy, iterations);
    if (!made) return made.error();
    const base::Result<OperationTimes> times = run(made->workload);
    if (!times) return times.error();
    return Summary(schedule, costs, policy, *made, *times).run(iterations);
}

}  // namespace pleat::advise
