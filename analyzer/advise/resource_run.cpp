#include "advise/resource_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "advise/next_event.h"

namespace pleat::advise {
namespace {

struct Waiting {
    std::int32_t priority = 0;
    std::uint64_t since = 0;  // how many became ready before
    OperationId operation;

    // The one to take next is the largest, as heaps have it.
    friend bool operator<(const Waiting& a, const Waiting& b) {
        return a.priority != b.priority ? a.priority > b.priority : a.since > b.since;
    }
};

class Engine {
  public:
    explicit Engine(const Workload& workload)
        : m_workload(workload),
          m_missing(workload.operations().size(), 0),
          m_times(workload.operations().size()),
          m_queues(workload.queues().size()),
          m_active(workload.ports().size()),
          m_devices(workload.devices()),
          m_next(workload.queues().size()) {
        linkOperations();
        listQueues();
        for (std::size_t i = 0; i < workload.ports().size(); ++i) {
            const auto port = PortId::at(i);
            m_devices[workload.ports()[port].device.index()].ports.push_back(port);
        }
        for (std::size_t i = 0; i < m_queues.size(); ++i) {
            const Queue& queue = workload.queues()[QueueId::at(i)];
            m_queues[i].isStream = queue.kind == QueueKind::Stream;
            if (!m_queues[i].isStream) m_devices[queue.device.index()].compute = QueueId::at(i);
        }
    }

    base::Result<OperationTimes> run() {
        for (std::size_t i = 0; i < m_missing.size(); ++i) {
            if (m_missing[i] == 0) becomeReady(OperationId::at(i));
        }
        while (m_next.time() != NextEvent::kNever) {
            m_now = m_next.time();
            const auto queue = QueueId::at(m_next.queue());
            if (m_queues[queue.index()].inLatency) {
                moveData(queue);
            } else {
                finish(queue);
            }
        }
        if (m_done == m_missing.size()) return std::move(m_times);
        return base::Error{base::ErrorCode::Input,
                           fmt::format("{} of {} operations can never start: what they wait for "
                                       "comes after them in their queues",
                                       m_missing.size() - m_done, m_missing.size())};
    }

  private:
    // A queue and what it runs.
    struct QueueState {
        double remaining = 0, since = 0, rate = 0;  // work, ns, work per ns
        OperationId running;
        bool isStream = false, inLatency = false;
        std::uint32_t next = 0, last = 0;  // of compute: in m_order
        std::vector<Waiting> waiting;      // of streams: a heap
    };
    struct DeviceState {
        QueueId compute;
        double factor = 1;  // by which compute takes longer now
        std::vector<PortId> ports;
    };

    void linkOperations() {
        const auto edges = m_workload.dependencies();
        m_firstSuccessor.assign(m_missing.size() + 1, 0);
        for (const auto& [before, after] : edges) {
            ++m_firstSuccessor[before.index() + 1];
            ++m_missing[after.index()];
        }
        for (std::size_t i = 1; i < m_firstSuccessor.size(); ++i)
            m_firstSuccessor[i] += m_firstSuccessor[i - 1];
        // Filled from the back: what stands at `before` ends as its first.
        m_successors.resize(edges.size());
        for (std::size_t i = 0; i + 1 < m_firstSuccessor.size(); ++i)
            std::swap(m_firstSuccessor[i], m_firstSuccessor[i + 1]);
        m_firstSuccessor.back() = static_cast<std::uint32_t>(edges.size());
        for (std::size_t i = edges.size(); i-- > 0;) {
            const auto& [before, after] = edges[i];
            m_successors[--m_firstSuccessor[before.index()]] = after;
        }
    }

    // The operations of every compute queue, in order.
    void listQueues() {
        const auto& operations = m_workload.operations();
        for (const Operation& operation : operations) ++m_queues[operation.queue.index()].last;
        std::uint32_t sum = 0;
        for (QueueState& queue : m_queues) {
            queue.next = sum;
            sum += std::exchange(queue.last, sum);
        }
        m_order.resize(sum);
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const auto id = OperationId::at(i);
            m_order[m_queues[operations[id].queue.index()].last++] = id;
        }
    }

    void becomeReady(OperationId id) {
        const Operation& operation = m_workload.operations()[id];
        QueueState& queue = m_queues[operation.queue.index()];
        if (!queue.isStream) {
            startNext(operation.queue);
        } else if (!queue.running.valid() && queue.waiting.empty()) {
            start(operation.queue, id);
        } else {
            queue.waiting.push_back({operation.priority, m_readied++, id});
            std::push_heap(queue.waiting.begin(), queue.waiting.end());
        }
    }

    void startNext(QueueId id) {
        QueueState& queue = m_queues[id.index()];
        if (queue.running.valid()) return;
        if (!queue.isStream) {
            if (queue.next == queue.last || m_missing[m_order[queue.next].index()] > 0) return;
            start(id, m_order[queue.next++]);
        } else if (!queue.waiting.empty()) {
            std::pop_heap(queue.waiting.begin(), queue.waiting.end());
            const OperationId next = queue.waiting.back().operation;
            queue.waiting.pop_back();
            start(id, next);
        }
    }

    void start(QueueId id, OperationId operation) {
        QueueState& queue = m_queues[id.index()];
        queue.running = operation;
        queue.remaining = m_workload.operations()[operation].work;
        queue.since = m_now;
        m_times[operation].begin = {std::llround(m_now)};
        if (!queue.isStream) {
            queue.rate = 1 / m_devices[m_workload.queues()[id].device.index()].factor;
            plan(id);
            return;
        }
        const double latency = m_workload.queues()[id].latency_ns;
        queue.inLatency = latency > 0;
        if (queue.inLatency) {
            m_next.set(id.index(), m_now + latency);
        } else {
            moveData(id);
        }
    }

    void moveData(QueueId id) {
        QueueState& queue = m_queues[id.index()];
        queue.inLatency = false;
        queue.since = m_now;
        queue.rate = -1;  // not known yet
        const std::vector<PortId>& ports = m_workload.queues()[id].ports;
        for (const PortId port : ports) m_active[port.index()].push_back(id);
        if (ports.empty()) {
            queue.rate = kUnlimited;
            plan(id);
        }
        for (const PortId port : ports) portChanged(port);
    }

    // Those that move data through it share it anew.
    void portChanged(PortId port) {
        for (const QueueId id : m_active[port.index()]) {
            double rate = kUnlimited;
            for (const PortId each : m_workload.queues()[id].ports) {
                rate = std::min(rate, m_workload.ports()[each].bytesPerNs /
                                          static_cast<double>(m_active[each.index()].size()));
            }
            changeRate(id, rate);
        }
        slowDevice(m_devices[m_workload.ports()[port].device.index()]);
    }

    void slowDevice(DeviceState& device) {
        double factor = 1;
        for (const PortId port : device.ports) {
            if (!m_active[port.index()].empty())
                factor = std::max(factor, 1 + m_workload.ports()[port].slowdown);
        }
        if (device.factor == factor) return;
        device.factor = factor;
        if (device.compute.valid() && m_queues[device.compute.index()].running.valid())
            changeRate(device.compute, 1 / factor);
    }

    void changeRate(QueueId id, double rate) {
        QueueState& queue = m_queues[id.index()];
        if (queue.rate == rate) return;
        if (queue.rate > 0 && queue.rate != kUnlimited)
            queue.remaining -= (m_now - queue.since) * queue.rate;
        queue.since = m_now;
        queue.rate = rate;
        plan(id);
    }

    void plan(QueueId id) {
        const QueueState& queue = m_queues[id.index()];
        const double needed =
            queue.rate == kUnlimited ? 0 : std::max(0.0, queue.remaining) / queue.rate;
        m_next.set(id.index(), m_now + needed);
    }

    void finish(QueueId id) {
        QueueState& queue = m_queues[id.index()];
        const OperationId operation = std::exchange(queue.running, OperationId());
        m_times[operation].end = {std::llround(m_now)};
        m_next.set(id.index(), NextEvent::kNever);
        ++m_done;
        const std::vector<PortId>& ports = m_workload.queues()[id].ports;
        for (const PortId port : ports) {
            std::vector<QueueId>& active = m_active[port.index()];
            active.erase(std::find(active.begin(), active.end(), id));
        }
        for (const PortId port : ports) portChanged(port);
        for (std::uint32_t i = m_firstSuccessor[operation.index()];
             i < m_firstSuccessor[operation.index() + 1]; ++i) {
            if (--m_missing[m_successors[i].index()] == 0) becomeReady(m_successors[i]);
        }
        startNext(id);
    }

    const Workload& m_workload;
    std::vector<std::uint32_t> m_missing;  // [operation] dependencies that have not ended
    OperationTimes m_times;
    std::vector<QueueState> m_queues;
    std::vector<std::vector<QueueId>> m_active;  // [port] those that move data through it
    std::vector<DeviceState> m_devices;
    NextEvent m_next;
    std::vector<OperationId> m_order;
    std::vector<std::uint32_t> m_firstSuccessor;
    std::vector<OperationId> m_successors;
    double m_now = 0;
    std::uint64_t m_readied = 0;
    std::size_t m_done = 0;
};

}  // namespace

base::Result<OperationTimes> run(const Workload& workload) { return Engine(workload).run(); }

}  // namespace pleat::advise
