#include "report/lane_title.h"

#include <fmt/format.h>

namespace pleat::report {

std::string laneTitle(const trace::Lane& lane) {
    if (!lane.name.empty()) return lane.name;
    return fmt::format("{} {}", lane.kind == trace::LaneKind::HostThread ? "thread" : "stream",
                       lane.nativeId);
}

}  // namespace pleat::report
