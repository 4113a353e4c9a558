#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "support/synthetic_run.h"
#include "trace/trace_builder.h"

namespace pleat::testing {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

trace::Trace traceOf(const SyntheticRun& run, std::optional<std::uint32_t> shuffleSeed) {
    trace::TraceBuilder builder;
    std::vector<std::int32_t> lanesOfRank(at(run.ranks), 1);
    bool hasDevices = false;
    for (const SyntheticEvent& event : run.events) {
        lanesOfRank[at(event.rank)] = std::max(lanesOfRank[at(event.rank)], event.lane + 1);
        hasDevices = hasDevices || event.lane == kDeviceLane;
    }
    std::vector<std::vector<trace::LaneId>> lanes(at(run.ranks));
    std::vector<trace::LaneId> devices(at(run.ranks));
    for (std::int32_t number = 0; number < run.ranks; ++number) {
        trace::Rank rank;
        rank.number = run.announceRank ? number : -1;
        rank.host = "host";
        rank.pid = 1000 + number;
        rank.program = "train";
        const trace::RankId id = builder.addRank(rank);
        for (std::int32_t lane = 0; lane < lanesOfRank[at(number)]; ++lane) {
            lanes[at(number)].push_back(
                builder.addLane({id, trace::LaneKind::HostThread, rank.pid * 100 + lane, ""}));
        }
        if (hasDevices)
            devices[at(number)] = builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""});
    }
    std::vector<std::size_t> order(run.events.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (shuffleSeed) std::shuffle(order.begin(), order.end(), std::mt19937(*shuffleSeed));
    std::vector<std::size_t> added(run.events.size());
    for (const std::size_t position : order) {
        const SyntheticEvent& event = run.events[position];
        added[position] = builder.eventCount();
        const trace::LaneId lane = event.lane == kDeviceLane
                                       ? devices[at(event.rank)]
                                       : lanes[at(event.rank)][at(event.lane)];
        builder.addEvent({lane, builder.intern(event.name),
                          event.domain.empty() ? base::StringId() : builder.intern(event.domain),
                          event.kind, event.flag, event.span},
                         event.arguments);
    }
    for (std::size_t i = 0; i < run.events.size(); ++i) {
        if (run.events[i].launchedBy >= 0) {
            builder.addDependency(added[at(run.events[i].launchedBy)], added[i],
                                  trace::DependencyKind::Launch);
        }
    }
    return std::move(builder).build().trace;
}

}  // namespace pleat::testing
