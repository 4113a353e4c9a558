#include "graph/inner_transfers.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "trace/limits.h"

namespace pleat::graph {
namespace {

using base::Interval;
using base::TraceTime;
using trace::EventId;
using trace::LaneId;
using trace::RankId;
using trace::Task;
using trace::TaskId;
using trace::Transfer;
using trace::TransferId;

// Between kernels of another stream that are further apart the stream waits; less is a launch.
constexpr base::Duration kLaunchGap{10'000};

// Kernels of a rank that compute, as far as they tell when one that began earlier had ended.
struct Computed {
    TraceTime begin;
    TraceTime lastEnd;  // of this and all before
    LaneId lane;
};

class Finder {
  public:
    Finder(const trace::Trace& trace, const DeviceWorkKinds& kinds)
        : m_trace(trace), m_found(trace.annotations()), m_kinds(kinds) {}

    std::vector<InnerTransfer> run() && {
        const auto& transfers = m_found.transfers;
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            const Transfer& transfer = transfers[TransferId::at(i)];
            if (i == 0 || transfer.rank != m_rank) enter(transfer.rank);
            if (m_firstTask == m_lastTask) continue;
            const TaskId task = taskAt(transfer.span.begin);
            if (task.valid()) add(task, TransferId::at(i));
        }
        std::stable_sort(
            m_inner.begin(), m_inner.end(),
            [](const InnerTransfer& a, const InnerTransfer& b) { return a.task < b.task; });
        return std::move(m_inner);
    }

  private:
    void enter(RankId rank) {
        m_rank = rank;
        m_kernelsRead = false;
        const auto& tasks = m_found.tasks.items();
        const auto range = std::equal_range(tasks.begin(), tasks.end(), rank, OfRank());
        m_firstTask = static_cast<std::size_t>(range.first - tasks.begin());
        m_lastTask = static_cast<std::size_t>(range.second - tasks.begin());
        m_nextTask = m_firstTask;
    }

    struct OfRank {
        bool operator()(const Task& task, RankId rank) const { return task.rank < rank; }
        bool operator()(RankId rank, const Task& task) const { return rank < task.rank; }
    };

    // The one that began last of those that run at `time`; times ascend.
    TaskId taskAt(TraceTime time) {
        const auto& tasks = m_found.tasks;
        while (m_nextTask < m_lastTask && tasks[TaskId::at(m_nextTask)].span.begin <= time)
            ++m_nextTask;
        if (m_nextTask == m_firstTask) return {};
        const TaskId last = TaskId::at(m_nextTask - 1);
        return time < tasks[last].span.end ? last : TaskId();
    }

    void add(TaskId id, TransferId of) {
        const Task& task = m_found.tasks[id];
        const Transfer& transfer = m_found.transfers[of];
        if (!task.event.valid() || !transfer.event.valid()) return;
        const trace::Event event = m_trace.event(transfer.event);
        const trace::Event range = m_trace.event(task.event);
        const auto onStream = [&](LaneId lane) {
            return m_trace.lanes()[lane].kind == trace::LaneKind::DeviceStream;
        };
        if (onStream(event.lane) && (onStream(range.lane) || task.span != range.span)) {
            if (const auto blocked = blockedOnDevice(task, transfer, event.lane))
                m_inner.push_back({id, of, *blocked});
        } else if (event.lane == range.lane && task.span == range.span &&
                   transfer.span.end <= task.span.end && transfer.event != task.event) {
            m_inner.push_back({id, of, transfer.span});
        }
    }

    // From the end of the last kernel that computes to the end of the transfer, where the task goes
    // on after it. Nothing where the task cannot have to do with the transfer: messages on a stream
    // of their own are those of other tasks.
    std::optional<Interval> blockedOnDevice(const Task& task, const Transfer& transfer,
                                            LaneId lane) {
        readKernels();
        const Interval none{transfer.span.begin, transfer.span.begin};
        const auto after = std::upper_bound(
            m_kernels.begin(), m_kernels.end(), transfer.span.begin,
            [](TraceTime time, const Computed& kernel) { return time < kernel.begin; });
        const bool sameStream = after != m_kernels.begin() && std::prev(after)->lane == lane &&
                                std::prev(after)->begin >= task.span.begin;
        if (isMessage(transfer.operation) && !sameStream) return std::nullopt;
        // Timers of two streams may disagree, by a quarter of what they measure at most.
        const base::Duration near{
            std::min(transfer.span.length().ns / 4, trace::kMostTimerNoiseNs)};
        if (transfer.span.end > task.span.end + near) return none;
        const base::Duration least = sameStream ? base::Duration{} : kLaunchGap;
        TraceTime end = std::min(transfer.span.end, task.span.end);
        // What the task goes on with may seem to begin a little before the transfer's end.
        for (auto next = std::lower_bound(m_kernels.begin(), m_kernels.end(), end, BeginsBefore());
             next != m_kernels.begin() && end + near >= transfer.span.end;) {
            --next;
            const Interval blocked{std::max(transfer.span.begin, next->lastEnd), end};
            if (blocked.length() > least) return blocked;
            end = std::min(end, next->begin);
        }
        return none;
    }

    struct BeginsBefore {
        bool operator()(const Computed& kernel, TraceTime time) const {
            return kernel.begin < time;
        }
    };

    void readKernels() {
        if (m_kernelsRead) return;
        m_kernelsRead = true;
        m_kernels.clear();
        for (std::size_t l = 0; l < m_trace.lanes().size(); ++l) {
            const trace::Lane& lane = m_trace.lanes()[LaneId::at(l)];
            if (lane.rank != m_rank || lane.kind != trace::LaneKind::DeviceStream) continue;
            const auto events = m_trace.eventsOf(LaneId::at(l));
            for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
                const trace::Event event = m_trace.event(EventId::at(e));
                if (m_kinds.of(EventId::at(e)) == DeviceWork::Compute)
                    m_kernels.push_back({event.span.begin, event.span.end, LaneId::at(l)});
            }
        }
        leaveOutTransfers();
        std::sort(m_kernels.begin(), m_kernels.end(),
                  [](const Computed& a, const Computed& b) { return a.begin < b.begin; });
        for (std::size_t i = 1; i < m_kernels.size(); ++i)
            m_kernels[i].lastEnd = std::max(m_kernels[i].lastEnd, m_kernels[i - 1].lastEnd);
    }

    // A rule may have made a transfer of a kernel whose name says nothing of it.
    void leaveOutTransfers() {
        std::vector<std::tuple<TraceTime, TraceTime, LaneId>> taken;
        const auto& transfers = m_found.transfers.items();
        const auto range =
            std::equal_range(transfers.begin(), transfers.end(), m_rank,
                             [](const auto& a, const auto& b) { return rankOf(a) < rankOf(b); });
        for (auto transfer = range.first; transfer != range.second; ++transfer) {
            const trace::Event event = m_trace.event(transfer->event);
            taken.emplace_back(event.span.begin, event.span.end, event.lane);
        }
        std::sort(taken.begin(), taken.end());
        std::erase_if(m_kernels, [&](const Computed& kernel) {
            return std::binary_search(taken.begin(), taken.end(),
                                      std::tuple(kernel.begin, kernel.lastEnd, kernel.lane));
        });
    }

    static RankId rankOf(const Transfer& transfer) { return transfer.rank; }
    static RankId rankOf(RankId rank) { return rank; }

    const trace::Trace& m_trace;
    const trace::Annotations& m_found;
    const DeviceWorkKinds& m_kinds;
    std::vector<InnerTransfer> m_inner;
    RankId m_rank;
    std::size_t m_firstTask = 0, m_lastTask = 0, m_nextTask = 0;
    bool m_kernelsRead = false;
    std::vector<Computed> m_kernels;  // of m_rank, by begin
};

}  // namespace

std::vector<InnerTransfer> innerTransfers(const trace::Trace& trace, const DeviceWorkKinds& kinds) {
    return Finder(trace, kinds).run();
}

}  // namespace pleat::graph
