#include "graph/device_kinds.h"

namespace pleat::graph {

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
