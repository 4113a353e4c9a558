#include "trace/called_work.h"

#include <algorithm>
#include <utility>

namespace pleat::trace {

CalledWorkIndex::CalledWorkIndex(const Trace& trace)
    : CalledWorkIndex(trace, DeviceWorkKinds(trace), [](EventId, DeviceWork) { return true; }) {}

CalledWorkIndex::CalledWorkIndex(const Trace& trace, const DeviceWorkKinds& kinds,
                                 const std::function<bool(EventId, DeviceWork)>& counts)
    : m_ofRank(trace.ranks().size()) {
    for (const Dependency& launch : trace.dependencies()) {
        if (launch.kind != DependencyKind::Launch) continue;
        const DeviceWork work = kinds.of(launch.to);
        if (work != DeviceWork::Compute && work != DeviceWork::Copy) continue;
        if (!counts(launch.to, work)) continue;
        const Event call = trace.event(launch.from);
        m_ofRank[trace.lanes()[call.lane].rank].push_back({call.span.begin, launch.to});
    }
    for (auto& calls : m_ofRank) {
        std::sort(calls.begin(), calls.end(), [](const CalledWork& a, const CalledWork& b) {
            return std::pair(a.called, a.work) < std::pair(b.called, b.work);
        });
    }
}

std::span<const CalledWork> CalledWorkIndex::within(RankId caller, base::Interval host) const {
    const std::vector<CalledWork>& all = m_ofRank[caller];
    const auto before = [](const CalledWork& one, base::TraceTime time) {
        return one.called < time;
    };
    const auto first = std::lower_bound(all.begin(), all.end(), host.begin, before);
    return {first, std::lower_bound(first, all.end(), host.end, before)};
}

}  // namespace pleat::trace
