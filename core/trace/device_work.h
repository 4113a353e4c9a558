// What a piece of device work is: compute, communication or a copy. The one place that decides it:
// by the table of kernel names (communication_kernels.h), and by what annotation found, for a
// kernel that is a transfer's (a user's rule may say so) does not compute. A host range that is a
// transfer decides nothing about the kernels within. Immutable once made.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace pleat::trace {

enum class DeviceWork : std::uint8_t { None, Compute, Communication, Copy };

class DeviceWorkKinds {
  public:
    // The trace must outlive it. O(events), and each name of a kernel once.
    explicit DeviceWorkKinds(const Trace& trace)
        : DeviceWorkKinds(trace.columns(), trace.annotations().transfers) {}
    DeviceWorkKinds(const EventColumns& events, const base::IdVector<TransferTag, Transfer>& found);

    [[nodiscard]] DeviceWork of(EventId id) const {
        const base::StringId domain = m_events->domain[id.index()];
        if (!domain.valid()) return DeviceWork::None;
        const DeviceWork work = m_ofDomain[domain.index()];
        if (work == DeviceWork::None) return work;
        if (m_ofTransfer[id.index()]) return DeviceWork::Communication;
        return work == DeviceWork::Compute && m_communicates[m_events->name[id.index()].index()]
                   ? DeviceWork::Communication
                   : work;
    }

  private:
    const EventColumns* m_events;
    std::vector<DeviceWork> m_ofDomain;  // Compute: or Communication, by name
    std::vector<bool> m_communicates;    // by name, of those of kernels
    std::vector<bool> m_ofTransfer;      // by event
};

// Of one event, for those who ask for few: O(log transfers) and a look at its name.
[[nodiscard]] DeviceWork deviceWorkOf(const Trace& trace, EventId id);

}  // namespace pleat::trace
