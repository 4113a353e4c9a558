#include "annotate/device_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/say.h"
#include "trace/categories.h"

namespace pleat::annotate {
namespace {

namespace categories = trace::categories;
using trace::EventId;
using trace::RankId;

struct Launch {
    base::TraceTime called;
    base::Interval work;
};

class DeviceTimes {
  public:
    explicit DeviceTimes(Draft& draft) : m_draft(draft), m_launches(draft.ranks.size()) {
        for (const trace::Dependency& launch : draft.events.dependencies()) {
            if (launch.kind != trace::DependencyKind::Launch) continue;
            if (!categories::isDeviceWork(draft.events.domain(launch.to))) continue;
            if (categories::isCommunicationKernel(draft.events.name(launch.to))) continue;
            const trace::Event call = draft.events.event(launch.from);
            m_launches[draft.rankOf(call)].push_back(
                {call.span.begin, draft.events.event(launch.to).span});
        }
        for (auto& launches : m_launches) {
            std::sort(launches.begin(), launches.end(),
                      [](const Launch& a, const Launch& b) { return a.called < b.called; });
        }
    }

    template <class Item>
    void take(Item& item) {
        const auto& launches = m_launches[item.rank];
        const trace::Event event = m_draft.events.event(item.event);
        const bool onHost = m_draft.events.lanes()[event.lane].kind == trace::LaneKind::HostThread;
        if (launches.empty() || !onHost) return;
        auto launch =
            std::lower_bound(launches.begin(), launches.end(), event.span.begin,
                             [](const Launch& l, base::TraceTime time) { return l.called < time; });
        if (launch == launches.end() || launch->called > event.span.end) {
            m_draft.diagnostics.add(
                base::Severity::Info, "host_time_of_task",
                fmt::format("\"{}\" launched no device work; its host range is taken",
                            base::printable(m_draft.events.name(item.event), 80)));
            return;
        }
        item.span = launch->work;
        for (; launch != launches.end() && launch->called <= event.span.end; ++launch) {
            item.span.begin = std::min(item.span.begin, launch->work.begin);
            item.span.end = std::max(item.span.end, launch->work.end);
        }
    }

  private:
    Draft& m_draft;
    base::IdVector<trace::RankTag, std::vector<Launch>> m_launches;  // ascending by call
};

}  // namespace

void takeDeviceTimes(Draft& draft) {
    DeviceTimes times(draft);
    for (trace::Task& task : draft.found.tasks) times.take(task);
    for (trace::Phase& phase : draft.found.phases) times.take(phase);
}

}  // namespace pleat::annotate
