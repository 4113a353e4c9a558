#include "trace/device_work.h"

#include <algorithm>
#include <utility>

#include "trace/categories.h"
#include "trace/communication_kernels.h"

namespace pleat::trace {
namespace {

DeviceWork workOfDomain(std::string_view domain) {
    if (domain == categories::kCopy || domain == categories::kSet) return DeviceWork::Copy;
    return categories::isDeviceWork(domain) ? DeviceWork::Compute : DeviceWork::None;
}

}  // namespace

DeviceWorkKinds::DeviceWorkKinds(const EventColumns& events,
                                 const base::IdVector<TransferTag, Transfer>& found)
    : m_events(&events), m_communicates(events.strings.size(), false) {
    for (std::size_t i = 0; i < events.strings.size(); ++i) {
        m_ofDomain.push_back(workOfDomain(events.strings.text(base::StringId::at(i))));
    }
    const bool anyDevice = std::any_of(m_ofDomain.begin(), m_ofDomain.end(),
                                       [](DeviceWork work) { return work != DeviceWork::None; });
    if (!anyDevice) return;  // nothing is asked of names and transfers
    std::vector<bool> known(events.strings.size(), false);
    for (std::size_t i = 0; i < events.lane.size(); ++i) {
        const base::StringId domain = events.domain[i], name = events.name[i];
        if (!domain.valid() || m_ofDomain[domain.index()] != DeviceWork::Compute ||
            known[name.index()])
            continue;
        known[name.index()] = true;
        m_communicates[name.index()] = communicationKernel(events.strings.text(name)).has_value();
    }
    m_ofTransfer.resize(events.lane.size(), false);
    for (const Transfer& transfer : found) {
        if (transfer.event.valid()) m_ofTransfer[transfer.event.index()] = true;
    }
}

DeviceWork deviceWorkOf(const Trace& trace, EventId id) {
    const DeviceWork work = workOfDomain(trace.domain(id));
    if (work == DeviceWork::None) return work;
    const Event event = trace.event(id);
    const RankId rank = trace.lanes()[event.lane].rank;
    const auto& transfers = trace.annotations().transfers;
    auto found =
        std::lower_bound(transfers.begin(), transfers.end(), std::pair(rank, event.span.begin),
                         [](const Transfer& transfer, const auto& at) {
                             return std::pair(transfer.rank, transfer.span.begin) < at;
                         });
    for (; found != transfers.end() && found->rank == rank && found->span.begin == event.span.begin;
         ++found) {
        if (found->event == id) return DeviceWork::Communication;
    }
    return work == DeviceWork::Compute && communicationKernel(trace.name(id))
               ? DeviceWork::Communication
               : work;
}

}  // namespace pleat::trace
