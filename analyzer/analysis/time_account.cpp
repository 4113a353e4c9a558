#include "analysis/time_account.h"

#include <vector>

#include "analysis/exact_mean.h"

namespace pleat::analysis {

std::string_view toString(TimePart part) {
    constexpr std::array<std::string_view, kTimePartCount> kNames = {"compute", "moving", "waiting",
                                                                     "copy", "bubble"};
    return kNames[static_cast<std::size_t>(part)];
}

std::string_view toString(BubbleCause cause) {
    constexpr std::array<std::string_view, kBubbleCauseCount> kNames = {
        "data_loading", "fill",          "drain",       "imbalance", "replica_imbalance",
        "late_peer",    "gradient_sync", "p2p_latency", "host_late", "untraced_device_work",
        "unknown"};
    return kNames[static_cast<std::size_t>(cause)];
}

TimeAccount& TimeAccount::operator+=(const TimeAccount& other) {
    parts += other.parts;
    causes += other.causes;
    hidden += other.hidden;
    return *this;
}

TimeAccount TimeAccount::mean(std::int64_t count) const {
    std::vector<std::int64_t> sums;
    for (const TimePart part : kTimeParts) {
        if (part != TimePart::Bubble) sums.push_back(parts[part].ns);
    }
    for (const BubbleCause cause : kBubbleCauses) sums.push_back(causes[cause].ns);
    const std::vector<std::int64_t> means = exactMeans(sums, count);
    TimeAccount result;
    std::size_t next = 0;
    for (const TimePart part : kTimeParts) {
        if (part != TimePart::Bubble) result.parts[part] = {means[next++]};
    }
    for (const BubbleCause cause : kBubbleCauses) result.causes[cause] = {means[next++]};
    result.parts[TimePart::Bubble] = result.causes.total();
    result.hidden = {hidden.ns / count};
    return result;
}

}  // namespace pleat::analysis
