#include "graph/device_kinds.h"

#include <string_view>

#include "trace/categories.h"

namespace pleat::graph {

namespace categories = trace::categories;

DeviceWorkKinds::DeviceWorkKinds(const trace::Trace& trace) : m_trace(&trace) {
    const base::StringPool& strings = trace.columns().strings;
    for (std::size_t i = 0; i < strings.size(); ++i) {
        const std::string_view text = strings.text(base::StringId::at(i));
        const bool copies = text == categories::kCopy || text == categories::kSet;
        m_ofDomain.push_back(copies                           ? DeviceWork::Copy
                             : categories::isDeviceWork(text) ? DeviceWork::Compute
                                                              : DeviceWork::None);
        m_communicates.push_back(categories::isCommunicationKernel(text));
    }
}

std::vector<bool> ranksWithDeviceWork(const trace::Trace& trace, const DeviceWorkKinds& kinds) {
    std::vector<bool> has(trace.ranks().size(), false);
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[trace::LaneId::at(i)];
        if (lane.kind != trace::LaneKind::DeviceStream || has[lane.rank.index()]) continue;
        const auto events = trace.eventsOf(trace::LaneId::at(i));
        for (trace::EventId id = events.first; id < events.last && !has[lane.rank.index()];
             id = trace::EventId(id.index() + 1))
            has[lane.rank.index()] = kinds.of(id) != DeviceWork::None;
    }
    return has;
}

}  // namespace pleat::graph
