#include "analysis/device_catalogue.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/saturating.h"
#include "base/statistics.h"
#include "trace/launch_cursor.h"

namespace pleat::analysis {
namespace {

using trace::EventId;
using trace::Operation;

constexpr base::Duration kShort{10'000};

// "bytes" of a copy, which is all that importers keep of its arguments.
std::int64_t bytesOf(std::string_view arguments) {
    constexpr std::string_view kKey = "\"bytes\":";
    const std::size_t found = arguments.find(kKey);
    std::int64_t bytes = 0;
    if (found == std::string_view::npos) return 0;
    std::from_chars(arguments.data() + found + kKey.size(), arguments.data() + arguments.size(),
                    bytes);
    return std::max<std::int64_t>(bytes, 0);
}

double busFactor(Operation operation, std::int64_t members) {
    const auto n = static_cast<double>(std::max<std::int64_t>(members, 1));
    switch (operation) {
        case Operation::AllReduce:
            return 2 * (n - 1) / n;
        case Operation::AllGather:
        case Operation::ReduceScatter:
        case Operation::AllToAll:
            return (n - 1) / n;
        default:
            return 1;
    }
}

std::optional<double> perSecond(std::int64_t bytes, base::Duration time) {
    if (bytes <= 0 || time.ns <= 0) return std::nullopt;
    return static_cast<double>(bytes) / (static_cast<double>(time.ns) * 1e-9);
}

class Catalogue {
  public:
    explicit Catalogue(const graph::RunIndex& run)
        : m_trace(run.trace()), m_kinds(run.kinds()), m_launches(m_trace) {}

    std::optional<DeviceCatalogue> run() {
        for (std::size_t i = 0; i < m_trace.lanes().size(); ++i) look(trace::LaneId::at(i));
        if (m_kernels.empty()) return std::nullopt;
        DeviceCatalogue all;
        for (auto& [name, figures] : m_kernels) all.kernels.push_back(std::move(figures));
        std::sort(all.kernels.begin(), all.kernels.end(), [](const auto& a, const auto& b) {
            return std::tie(b.total, a.name) < std::tie(a.total, b.name);
        });
        for (auto& [name, copy] : m_copies) {
            copy.bytesPerSecond = perSecond(copy.bytes, copy.total);
            all.copies.push_back(std::move(copy));
        }
        std::sort(all.copies.begin(), all.copies.end(), [](const auto& a, const auto& b) {
            return std::tie(b.total, a.name) < std::tie(a.total, b.name);
        });
        all.launches = launches();
        all.queues = deviceQueues(m_trace, m_kinds);
        all.communicators = communicators();
        return all;
    }

  private:
    void look(trace::LaneId id) {
        const trace::Lane& lane = m_trace.lanes()[id];
        if (lane.kind != trace::LaneKind::DeviceStream || m_trace.ranks()[lane.rank].number < 0)
            return;
        const auto events = m_trace.eventsOf(id);
        for (EventId event = events.first; event < events.last;
             event = EventId(event.index() + 1)) {
            const DeviceWork work = m_kinds.of(event);
            if (work == DeviceWork::None) continue;
            const base::Interval span = m_trace.event(event).span;
            KernelFigures& figures = m_kernels[{m_trace.columns().name[event.index()], work}];
            if (figures.count == 0) figures.name = m_trace.name(event);
            figures.kind = work;
            ++figures.count;
            figures.total += span.length();
            figures.longest = std::max(figures.longest, span.length());
            if (work == DeviceWork::Copy) addCopy(event, span);
            addLaunch(event, span);
        }
    }

    void addCopy(EventId event, base::Interval span) {
        CopyFigures& copy = m_copies[m_trace.columns().name[event.index()]];
        if (copy.count == 0) copy.name = m_trace.name(event);
        ++copy.count;
        copy.bytes = base::saturatingSum(copy.bytes, bytesOf(m_trace.arguments(event)));
        copy.total += span.length();
    }

    void addLaunch(EventId event, base::Interval span) {
        const EventId call = m_launches.of(event);
        if (!call.valid()) return;
        const base::TraceTime called = m_trace.event(call).span.begin;
        m_delays.push_back(span.begin - called);
        m_shortOnes += span.length() < kShort ? 1 : 0;
    }

    LaunchFigures launches() {
        LaunchFigures figures;
        figures.count = static_cast<std::int64_t>(m_delays.size());
        figures.shortOnes = m_shortOnes;
        if (m_delays.empty()) return figures;
        figures.medianDelay = base::medianOf(m_delays);
        figures.p90Delay = base::nearestRank(m_delays, 9, 10);
        return figures;
    }

    std::vector<CommunicatorFigures> communicators() const {
        using Key = std::tuple<trace::Dimension, Operation, std::int64_t>;
        std::map<Key, CommunicatorFigures> all;
        const trace::Annotations& found = m_trace.annotations();
        for (const trace::Transfer& transfer : found.transfers) {
            if (!transfer.match.valid()) continue;
            const bool message = isMessage(transfer.operation);
            const trace::Match& match = found.matches[transfer.match];
            const auto members = message ? 2 : static_cast<std::int64_t>(match.members.size());
            CommunicatorFigures& figures = all[{transfer.dimension, transfer.operation, members}];
            figures.dimension = transfer.dimension;
            figures.operation = transfer.operation;
            figures.members = members;
            ++figures.count;
            const base::TraceTime ready =
                std::clamp(match.ready, transfer.span.begin, transfer.span.end);
            if (transfer.bytes <= 0) continue;
            figures.bytes = base::saturatingSum(figures.bytes, transfer.bytes);
            figures.moving += transfer.span.end - ready;
        }
        std::vector<CommunicatorFigures> list;
        for (auto& [key, figures] : all) {
            figures.algorithmBandwidth = perSecond(figures.bytes, figures.moving);
            if (figures.algorithmBandwidth)
                figures.busBandwidth =
                    *figures.algorithmBandwidth * busFactor(figures.operation, figures.members);
            list.push_back(figures);
        }
        return list;
    }

    const trace::Trace& m_trace;
    const DeviceWorkKinds& m_kinds;
    trace::LaunchCursor m_launches;
    // A rule may make some kernels of a name transfers and leave others.
    std::map<std::pair<base::StringId, DeviceWork>, KernelFigures> m_kernels;
    std::unordered_map<base::StringId, CopyFigures> m_copies;
    std::vector<base::Duration> m_delays;
    std::int64_t m_shortOnes = 0;
};

}  // namespace

std::optional<DeviceCatalogue> catalogueDevices(const graph::RunIndex& run) {
    return Catalogue(run).run();
}

}  // namespace pleat::analysis
