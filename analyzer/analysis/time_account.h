// What a rank's time is made of: the one home of the parts of an iteration and of the causes of its
// bubble, with their names. From the accounting of one iteration to reports, comparisons and the
// viewer, all of which go through `kTimeParts` and `kBubbleCauses` rather than naming each. Plain
// values in nanoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/per_enum.h"
#include "base/time.h"

namespace pleat::analysis {

// They sum to the whole; in the order of the rows of a report.
enum class TimePart : std::uint8_t {
    Compute,
    Moving,   // transfers moving data, not under compute
    Waiting,  // collectives waiting for their last member
    Copy,     // device copies
    Bubble,   // the rest: idle
};
inline constexpr std::size_t kTimePartCount = 5;
inline constexpr auto kTimeParts = base::allOf<TimePart, kTimePartCount>();

// compute moving waiting copy bubble
[[nodiscard]] std::string_view toString(TimePart part);

enum class BubbleCause : std::uint8_t {
    DataLoading,       // a rank loads data: this one, or the one it waits for
    Fill,              // of an ideal pipeline, before the rank's first backward
    Drain,             // of an ideal pipeline, after it
    Imbalance,         // stages differ in their usual duration
    ReplicaImbalance,  // a replica waits for the slowest one
    LatePeer,          // a task took longer than is usual for its stage, or a rank paused
    GradientSync,      // collectives delay tasks
    MessageLatency,    // messages between stages take time
    HostLate,          // no replay shows it, and the host called what ran next too late
    UntracedWork,      // nor that, and the host started work that was not recorded
    Unknown,           // a pause of the rank itself that nothing explains
};
inline constexpr std::size_t kBubbleCauseCount = 11;
inline constexpr auto kBubbleCauses = base::allOf<BubbleCause, kBubbleCauseCount>();

// data_loading fill drain imbalance replica_imbalance late_peer gradient_sync p2p_latency host_late
// untraced_device_work unknown
[[nodiscard]] std::string_view toString(BubbleCause cause);

using TimeParts = base::PerEnum<TimePart, kTimePartCount, base::Duration>;
using CauseDurations = base::PerEnum<BubbleCause, kBubbleCauseCount, base::Duration>;
using CauseFractions = base::PerEnum<BubbleCause, kBubbleCauseCount, double>;

struct TimeAccount {
    TimeParts parts;
    CauseDurations causes;  // sum to the bubble
    base::Duration hidden;  // transfers moving data under compute: a part of compute

    [[nodiscard]] base::Duration operator[](TimePart part) const { return parts[part]; }
    [[nodiscard]] base::Duration operator[](BubbleCause cause) const { return causes[cause]; }
    [[nodiscard]] base::Duration total() const { return parts.total(); }
    TimeAccount& operator+=(const TimeAccount& other);
    // This sum's mean over `count` (> 0): parts and causes still sum to what they did, to the
    // nanosecond (exact_mean.h).
    [[nodiscard]] TimeAccount mean(std::int64_t count) const;
};

}  // namespace pleat::analysis
