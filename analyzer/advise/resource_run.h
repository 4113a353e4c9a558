// Discrete events over operations that compete for resources: the engine under every prediction of
// another schedule. It knows nothing of pipelines (pipeline_workload.h does): operations wait for
// each other, take their turn in a queue, and transfers share the ports of the links they use.
//
// The model, stated so that its answers can be checked by hand:
//   - A queue runs one operation at a time: a device's compute in the order given, a stream of
//     communication among those that are ready by priority, then by the moment they became ready.
//   - A transfer first waits for its latency, which uses no bandwidth, then moves its bytes. A port
//     divides its bandwidth equally among the transfers that move data through it; a transfer moves
//     at the smallest share of its ports.
//   - While data moves through a port of a device, the device's compute takes 1 + slowdown times as
//     long (the largest of its busy ports).
// Deterministic: what happens at one moment happens in the order of the queues.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/interval_set.h"
#include "base/result.h"

namespace pleat::advise {

using OperationId = base::Id<struct OperationTag>;
using QueueId = base::Id<struct QueueTag>;
using PortId = base::Id<struct PortTag>;
using DeviceId = base::Id<struct DeviceTag>;

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// One direction of a device's link.
struct Port {
    DeviceId device;
    double bytesPerNs = kUnlimited;
    double slowdown = 0;  // 0: compute is as fast as without transfers
};

enum class QueueKind : std::uint8_t {
    Compute,  // in the order in which its operations were added
    Stream,   // of those that are ready the one of the lowest priority number
};
struct Queue {
    QueueKind kind = QueueKind::Compute;
    DeviceId device;        // of compute; invalid for streams
    double latency_ns = 0;  // of a stream's transfers
    std::vector<PortId>
        ports;  // they move through: usually the sender's way out, the receiver's in
};

struct Operation {
    QueueId queue;
    std::int32_t priority = 0;  // of transfers
    double work = 0;            // ns of compute at full speed, or bytes
};

class Workload {
  public:
    DeviceId addDevice() { return DeviceId(m_devices++); }
    PortId addPort(const Port& port) { return m_ports.push(port); }
    QueueId addCompute(DeviceId device) {
        return m_queues.push({QueueKind::Compute, device, 0, {}});
    }
    QueueId addStream(double latency_ns, std::vector<PortId> ports) {
        return m_queues.push({QueueKind::Stream, {}, latency_ns, std::move(ports)});
    }
    OperationId add(QueueId queue, double work, std::int32_t priority = 0) {
        return m_operations.push({queue, priority, work});
    }
    void addDependency(OperationId before, OperationId after) {
        m_edges.emplace_back(before, after);
    }
    void reserve(std::size_t operations, std::size_t dependencies) {
        m_operations.reserve(operations);
        m_edges.reserve(dependencies);
    }

    [[nodiscard]] std::uint32_t devices() const { return m_devices; }
    [[nodiscard]] const base::IdVector<PortTag, Port>& ports() const { return m_ports; }
    [[nodiscard]] const base::IdVector<QueueTag, Queue>& queues() const { return m_queues; }
    [[nodiscard]] const base::IdVector<OperationTag, Operation>& operations() const {
        return m_operations;
    }
    [[nodiscard]] std::span<const std::pair<OperationId, OperationId>> dependencies() const {
        return m_edges;
    }

  private:
    std::uint32_t m_devices = 0;
    base::IdVector<PortTag, Port> m_ports;
    base::IdVector<QueueTag, Queue> m_queues;
    base::IdVector<OperationTag, Operation> m_operations;
    std::vector<std::pair<OperationId, OperationId>> m_edges;
};

// From the moment an operation had its turn to its end.
using OperationTimes = base::IdVector<OperationTag, base::Interval>;

// All start at time 0. Input error where some never can: their dependencies and the order of their
// queues contradict each other. O((operations + dependencies) x log(queues)), times the transfers
// that share a port.
[[nodiscard]] base::Result<OperationTimes> run(const Workload& workload);

}  // namespace pleat::advise
