#include "importers/device_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "trace/categories.h"

namespace pleat::importers {
namespace {

using trace::RankId;
using WorkOfDevices = std::map<std::int64_t, std::int64_t>;  // ordinal -> ns of its kernels

std::map<RankId, WorkOfDevices> workOf(const ReadFile& file, trace::TraceBuilder& builder) {
    std::map<RankId, WorkOfDevices> work;
    std::map<RankId, std::set<std::int64_t>> devices;
    for (const auto& [lane, device] : file.facts.deviceOfLane)
        devices[builder.lanes()[lane].rank].insert(device);
    if (std::none_of(devices.begin(), devices.end(),
                     [](const auto& entry) { return entry.second.size() > 1; }))
        return work;  // the usual run: no look at its events
    for (std::size_t i = file.begin.events; i < file.end.events; ++i) {
        const trace::Event event = builder.event(i);
        const auto device = file.facts.deviceOfLane.find(event.lane);
        if (device == file.facts.deviceOfLane.end() || !event.domain.valid()) continue;
        const std::string_view domain = builder.text(event.domain);
        if (domain == trace::categories::kKernel || domain == trace::categories::kGraph)
            work[builder.lanes()[event.lane].rank][device->second] += event.span.length().ns;
    }
    return work;
}

}  // namespace

void separateDevices(ReadFile& file, trace::TraceBuilder& builder) {
    constexpr std::int64_t kLittle = 100;  // a hundredth of the busiest device's work
    std::map<std::pair<RankId, std::int64_t>, RankId> rankOf;
    for (const auto& [process, work] : workOf(file, builder)) {
        const std::int64_t most =
            std::max_element(work.begin(), work.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
            })->second;
        std::vector<std::int64_t> busy;
        for (const auto& [device, time_ns] : work) {
            if (time_ns >= most / kLittle && time_ns > 0) {
                busy.push_back(device);
            } else {
                builder.diagnostics().add(
                    "device_with_little_work",
                    fmt::format("process {} hardly used cuda:{}; its work there is counted on the "
                                "process's first device",
                                builder.ranks()[process].pid, device));
            }
        }
        if (busy.size() < 2) continue;
        for (const std::int64_t device : busy) {
            const bool first = device == busy.front();
            const trace::Rank copy = builder.ranks()[process];
            const RankId id = first ? process : builder.addRank(copy);
            builder.ranks()[id].device = fmt::format("cuda:{}", device);
            builder.ranks()[id].oneOfSeveralDevices = true;
            rankOf[{process, device}] = id;
        }
    }
    for (const auto& [lane, device] : file.facts.deviceOfLane) {
        const auto rank = rankOf.find({builder.lanes()[lane].rank, device});
        if (rank != rankOf.end()) builder.lanes()[lane].rank = rank->second;
    }
    file.lastRank = builder.ranks().size();
}

}  // namespace pleat::importers
