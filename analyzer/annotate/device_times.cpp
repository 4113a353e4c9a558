#include "annotate/device_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/say.h"
#include "trace/called_work.h"
#include "trace/device_work.h"

namespace pleat::annotate {
namespace {

using trace::EventId;
using trace::RankId;

class DeviceTimes {
  public:
    explicit DeviceTimes(Draft& draft)
        : m_draft(draft),
          m_kinds(draft.events.columns(), draft.found.transfers),
          m_computing(computingLanes()),
          m_launches(draft.events, m_kinds, [this](EventId id, trace::DeviceWork work) {
              return work == trace::DeviceWork::Compute || m_computing[laneOf(id)];
          }) {}

    template <class Item>
    void take(Item& item) {
        const trace::Event event = m_draft.events.event(item.event);
        const bool onHost = m_draft.events.lanes()[event.lane].kind == trace::LaneKind::HostThread;
        if (!m_launches.any(item.rank) || !onHost) return;
        // What two instants mark lasts from one to the other; the event is only the first.
        const base::Interval range = event.kind == trace::EventKind::Mark ? item.span : event.span;
        const std::span<const trace::CalledWork> works = m_launches.within(item.rank, range);
        if (works.empty()) {
            m_draft.diagnostics.add("host_time_of_task", [&] {
                return fmt::format("\"{}\" launched no device work; using its host range",
                                   base::printable(m_draft.events.name(item.event), 80));
            });
            return;
        }
        item.rank = busiest(works);
        std::optional<base::Interval> span;
        for (const trace::CalledWork& one : works) {
            const trace::Event work = m_draft.events.event(one.work);
            if (m_draft.rankOf(work) != item.rank) continue;
            if (!span) span = work.span;
            span->begin = std::min(span->begin, work.span.begin);
            span->end = std::max(span->end, work.span.end);
        }
        item.span = *span;
    }

  private:
    // By lane: streams that only copy run ahead of the tasks they are called in, or behind. A batch
    // that is prefetched while the step before still computes begins no forward.
    std::vector<bool> computingLanes() const {
        std::vector<bool> computing(m_draft.events.lanes().size(), false);
        for (std::size_t i = 0; i < computing.size(); ++i) {
            const auto events = m_draft.events.eventsOf(trace::LaneId::at(i));
            for (std::size_t e = events.first.index(); e < events.last.index(); ++e) {
                if (m_kinds.of(EventId::at(e)) != trace::DeviceWork::Compute) continue;
                computing[i] = true;
                break;
            }
        }
        return computing;
    }
    std::size_t laneOf(EventId id) const { return m_draft.events.event(id).lane.index(); }

    // The device on which most of the work was: that is where the task ran. Of a process with
    // several devices one of its ranks.
    [[nodiscard]] RankId busiest(std::span<const trace::CalledWork> works) const {
        std::map<RankId, std::int64_t> timeOf;
        for (const trace::CalledWork& one : works) {
            const trace::Event work = m_draft.events.event(one.work);
            timeOf[m_draft.rankOf(work)] += work.span.length().ns;
        }
        return std::max_element(timeOf.begin(), timeOf.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }

    Draft& m_draft;
    const trace::DeviceWorkKinds m_kinds;
    const std::vector<bool> m_computing;  // by lane
    const trace::CalledWorkIndex m_launches;
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
