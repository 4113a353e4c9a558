// How two clocks relate: what to add to times of the one ("own") to get times of the other, as a
// line over own time, with a bound of its error. From moments that both clocks saw, or from
// messages, which arrive after they are sent. Nanoseconds. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace pleat::annotate {

// How far apart members of one collective end on one clock (measured 1 to 11 us on eight GPUs).
inline constexpr double kEndSpreadNs = 12'000;

// What one moment says: add `difference` at own time `time`.
struct ClockAnchor {
    double time = 0;
    double difference = 0;
};

// What one message says: at own time `time`, add no less (it came from the other) or no more (it
// went there) than `difference`.
struct ClockLimit {
    double time = 0;
    double difference = 0;
    bool atLeast = false;
};

struct ClockLine {
    double offset = 0, drift = 0, origin = 0;  // add offset + drift * (time - origin)
    double worst = 0;                          // how wrong it may be
    std::size_t anchors = 0;                   // moments or messages it rests on; never 0
};

// `anchors` is not empty. A drift is taken only where it is plain; nothing is added where clocks
// differ by less than kEndSpreadNs.
[[nodiscard]] ClockLine fitMoments(const std::vector<ClockAnchor>& anchors);

// How far UTC of two hosts may be apart where nothing but their own clocks says so: network time
// leaves one to tens of milliseconds.
inline constexpr double kUtcSpreadNs = 50'000'000;

// For own times from `first` to `last`, at both of which `worst` holds, as between them. Nothing
// where messages went one way only, or contradict every line. Nothing is added where the messages
// do not ask for it; where they do, the middle of what they allow: of the offsets, or, where no
// offset will do, of all lines.
[[nodiscard]] std::optional<ClockLine> fitMessages(const std::vector<ClockLimit>& limits,
                                                   double first, double last);

// The same for clocks that both keep UTC: no further apart than kUtcSpreadNs where messages allow
// that, and else as little further as they ask for, so that messages one way only say something.
[[nodiscard]] std::optional<ClockLine> fitMessagesOnUtc(const std::vector<ClockLimit>& limits,
                                                        double first, double last);

}  // namespace pleat::annotate
