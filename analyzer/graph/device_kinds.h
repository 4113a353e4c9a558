// What kind of device work an event is: kernels that compute, kernels that communicate, copies.
// Worked out once per name and category of a trace, then looked up. Immutable once made; safe to
// read from any thread, as long as the trace lives.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace pleat::graph {

enum class DeviceWork : std::uint8_t { None, Compute, Communication, Copy };

// The kind of every event.
class DeviceWorkKinds {
  public:
    explicit DeviceWorkKinds(const trace::Trace& trace);
    [[nodiscard]] DeviceWork of(trace::EventId id) const {
        const base::StringId domain = m_trace->columns().domain[id.index()];
        if (!domain.valid()) return DeviceWork::None;
        const DeviceWork work = m_ofDomain[domain.index()];
        if (work != DeviceWork::Compute) return work;
        return m_communicates[m_trace->columns().name[id.index()].index()]
                   ? DeviceWork::Communication
                   : DeviceWork::Compute;
    }

  private:
    const trace::Trace* m_trace;
    std::vector<DeviceWork> m_ofDomain;  // Compute: or Communication, by name
    std::vector<bool> m_communicates;    // by name
};

// By RankId: has it a device stream with any work?
[[nodiscard]] std::vector<bool> ranksWithDeviceWork(const trace::Trace& trace,
                                                    const DeviceWorkKinds& kinds);

}  // namespace pleat::graph
