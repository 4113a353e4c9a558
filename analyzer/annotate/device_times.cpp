#include "annotate/device_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/say.h"
#include "trace/device_work.h"

namespace pleat::annotate {
namespace {

using trace::EventId;
using trace::RankId;

struct Launch {
    base::TraceTime called;
    base::Interval work;
    RankId device;  // whose the work is: of a process with several devices one of its ranks
};

class DeviceTimes {
  public:
    explicit DeviceTimes(Draft& draft) : m_draft(draft), m_launches(draft.ranks.size()) {
        const trace::DeviceWorkKinds kinds(draft.events.columns(), draft.found.transfers);
        const std::vector<bool> computing = computingLanes(kinds);
        for (const trace::Dependency& launch : draft.events.dependencies()) {
            if (launch.kind != trace::DependencyKind::Launch) continue;
            const trace::DeviceWork work = kinds.of(launch.to);
            if (work == trace::DeviceWork::None || work == trace::DeviceWork::Communication)
                continue;
            if (work == trace::DeviceWork::Copy && !computing[laneOf(launch.to)]) continue;
            const trace::Event call = draft.events.event(launch.from);
            m_launches[draft.rankOf(call)].push_back({call.span.begin,
                                                      draft.events.event(launch.to).span,
                                                      draft.rankOf(draft.events.event(launch.to))});
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
        // What two instants mark lasts from one to the other; the event is only the first.
        const base::Interval range = event.kind == trace::EventKind::Mark ? item.span : event.span;
        auto launch =
            std::lower_bound(launches.begin(), launches.end(), range.begin,
                             [](const Launch& l, base::TraceTime time) { return l.called < time; });
        if (launch == launches.end() || launch->called >= range.end) {
            m_draft.diagnostics.add("host_time_of_task", [&] {
                return fmt::format("\"{}\" launched no device work; using its host range",
                                   base::printable(m_draft.events.name(item.event), 80));
            });
            return;
        }
        const auto last = std::find_if(launch, launches.end(),
                                       [&](const Launch& l) { return l.called >= range.end; });
        item.rank = busiest(launch, last);
        launch = std::find_if(launch, last, [&](const Launch& l) { return l.device == item.rank; });
        item.span = launch->work;
        for (; launch != last; ++launch) {
            if (launch->device != item.rank) continue;
            item.span.begin = std::min(item.span.begin, launch->work.begin);
            item.span.end = std::max(item.span.end, launch->work.end);
        }
    }

  private:
    // By lane: streams that only copy run ahead of the tasks they are called in, or behind. A batch
    // that is prefetched while the step before still computes begins no forward.
    std::vector<bool> computingLanes(const trace::DeviceWorkKinds& kinds) const {
        std::vector<bool> computing(m_draft.events.lanes().size(), false);
        for (std::size_t i = 0; i < computing.size(); ++i) {
            const auto events = m_draft.events.eventsOf(trace::LaneId::at(i));
            for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
                if (kinds.of(EventId::at(e)) != trace::DeviceWork::Compute) continue;
                computing[i] = true;
                break;
            }
        }
        return computing;
    }
    std::size_t laneOf(EventId id) const { return m_draft.events.event(id).lane.index(); }

    // The device on which most of the work was: that is where the task ran.
    template <class Iterator>
    static RankId busiest(Iterator launch, Iterator last) {
        if (std::all_of(launch, last, [&](const Launch& l) { return l.device == launch->device; }))
            return launch->device;
        std::map<RankId, std::int64_t> work;
        for (; launch != last; ++launch) work[launch->device] += launch->work.length().ns;
        return std::max_element(work.begin(), work.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }

    Draft& m_draft;
    base::IdVector<trace::RankTag, std::vector<Launch>> m_launches;  // ascending by call
};

struct KernelCall {
    base::TraceTime called;
    trace::TransferId transfer;
};

bool onHost(const Draft& draft, EventId id) {
    return draft.events.lanes()[draft.events.event(id).lane].kind == trace::LaneKind::HostThread;
}

// By RankId, ascending by call.
base::IdVector<trace::RankTag, std::vector<KernelCall>> callsOfKernels(const Draft& draft) {
    base::IdVector<trace::RankTag, std::vector<KernelCall>> calls(draft.ranks.size());
    const auto& transfers = draft.found.transfers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto id = trace::TransferId::at(i);
        if (onHost(draft, transfers[id].event)) continue;
        for (const trace::Dependency& launch : draft.events.dependenciesOf(transfers[id].event)) {
            if (launch.kind != trace::DependencyKind::Launch) continue;
            const trace::Event call = draft.events.event(launch.from);
            calls[draft.rankOf(call)].push_back({call.span.begin, id});
        }
    }
    for (auto& list : calls) {
        std::sort(list.begin(), list.end(), [](const KernelCall& a, const KernelCall& b) {
            return std::pair(a.called, a.transfer) < std::pair(b.called, b.transfer);
        });
    }
    return calls;
}

// What `said` knows and `kernel` does not.
void complete(trace::Transfer& kernel, const trace::Transfer& said) {
    if (kernel.operation == trace::Operation::Other) kernel.operation = said.operation;
    if (kernel.dimension == trace::Dimension::Other) kernel.dimension = said.dimension;
    if (kernel.bytes == 0) kernel.bytes = said.bytes;
    for (const auto field :
         {&trace::Transfer::iteration, &trace::Transfer::stage, &trace::Transfer::chunk,
          &trace::Transfer::microbatch, &trace::Transfer::peer}) {
        if (kernel.*field < 0) kernel.*field = said.*field;
    }
    if (!kernel.action) kernel.action = said.action;
}

// A rule may name work that was read as communication already: one transfer, which is what the rule
// says it is.
void joinTransfersOfOneEvent(Draft& draft) {
    std::vector<bool> seen(draft.events.eventCount(), false);
    bool anyTwice = false;
    for (const trace::Transfer& transfer : draft.found.transfers) {
        anyTwice = anyTwice || seen[transfer.event.index()];
        seen[transfer.event.index()] = true;
    }
    if (!anyTwice) return;
    std::unordered_map<EventId, std::size_t> known;  // position in `kept`
    base::IdVector<trace::TransferTag, trace::Transfer> kept;
    for (const trace::Transfer& transfer : draft.found.transfers) {
        if (std::binary_search(draft.transferBatches.begin(), draft.transferBatches.end(),
                               transfer.event)) {
            kept.push(transfer);
            continue;
        }
        const auto [found, isNew] = known.try_emplace(transfer.event, kept.size());
        if (isNew) {
            kept.push(transfer);
            continue;
        }
        trace::Transfer& first = kept[trace::TransferId::at(found->second)];
        trace::Transfer said = transfer;
        complete(said, first);
        said.group = first.group;
        if (said.sequence < 0) said.sequence = first.sequence;
        first = said;
    }
    draft.found.transfers = std::move(kept);
}

}  // namespace

void giveTransfersToKernels(Draft& draft) {
    joinTransfersOfOneEvent(draft);
    const auto calls = callsOfKernels(draft);
    if (std::all_of(calls.begin(), calls.end(), [](const auto& list) { return list.empty(); }))
        return;  // no device work was recorded
    base::IdVector<trace::TransferTag, trace::Transfer> kept;
    std::vector<EventId> given;  // host ranges whose kernels have what they know
    auto& transfers = draft.found.transfers;
    for (const trace::Transfer& transfer : transfers) {
        const base::Interval range = draft.events.event(transfer.event).span;
        const auto& ofRank = calls[transfer.rank];
        auto call = std::lower_bound(
            ofRank.begin(), ofRank.end(), range.begin,
            [](const KernelCall& c, base::TraceTime time) { return c.called < time; });
        const bool isRange =
            onHost(draft, transfer.event) && call != ofRank.end() && call->called < range.end;
        const bool onlyDescribes =
            !ofRank.empty() && std::binary_search(draft.frameworkTransfers.begin(),
                                                  draft.frameworkTransfers.end(), transfer.event);
        if (isRange || onlyDescribes) given.push_back(transfer.event);
        if (!isRange) continue;
        for (; call != ofRank.end() && call->called < range.end; ++call)
            complete(transfers[call->transfer], transfer);
    }
    std::sort(given.begin(), given.end());
    for (const trace::Transfer& transfer : transfers) {
        if (!std::binary_search(given.begin(), given.end(), transfer.event)) kept.push(transfer);
    }
    transfers = std::move(kept);
}

void takeDeviceTimes(Draft& draft) {
    DeviceTimes times(draft);
    for (trace::Task& task : draft.found.tasks) times.take(task);
    for (trace::Phase& phase : draft.found.phases) times.take(phase);
}

}  // namespace pleat::annotate
