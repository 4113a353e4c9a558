#include "timeline/path_marks.h"

#include <algorithm>

namespace pleat::timeline {

std::optional<base::Duration> PathMarks::slackOf(trace::EventId event) const {
    const auto found = std::partition_point(
        slack.begin(), slack.end(), [&](const EventSlack& one) { return one.event < event; });
    if (found == slack.end() || found->event != event) return std::nullopt;
    return found->slack;
}

std::uint8_t paleness(base::Duration slack, base::Duration palest) {
    constexpr double kMost = 190;
    if (slack.ns <= 0 || palest.ns <= 0) return 0;
    const double share = static_cast<double>(slack.ns) / static_cast<double>(palest.ns);
    return static_cast<std::uint8_t>(std::min(share, 1.0) * kMost);
}

}  // namespace pleat::timeline
