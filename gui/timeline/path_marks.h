// What a timeline shows of the critical path of one iteration: which stretches of time lie on it,
// on the rows of which events, and by how much every other event may be late without the iteration
// being later. Plain values; whoever has analysed the iteration fills them in.
//
// Invariants: `path` is contiguous over the window and has no empty piece, so both begins and ends
// ascend; `slack` ascends by event and has each event once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval_set.h"
#include "trace/model.h"

namespace pleat::timeline {

struct PathMark {
    base::Interval span;
    trace::EventId on;   // the event in whose row it is drawn; invalid: none is known
    bool pause = false;  // nothing that it depends on was running
    friend bool operator==(const PathMark&, const PathMark&) = default;
};

struct EventSlack {
    trace::EventId event;
    base::Duration slack;  // 0: critical
    friend bool operator==(const EventSlack&, const EventSlack&) = default;
};

struct PathMarks {
    std::int32_t iteration = -1;
    base::Interval window;
    std::vector<PathMark> path;
    std::vector<EventSlack> slack;
    base::Duration palest;  // events with this slack or more are as pale as any

    // Nothing for an event that is no part of the iteration's graph. O(log n).
    [[nodiscard]] std::optional<base::Duration> slackOf(trace::EventId event) const;
};

// From which slack on an event of an iteration is as pale as any: a tenth of it.
[[nodiscard]] constexpr base::Duration palestSlack(base::Interval iteration) {
    return {iteration.length().ns / 10};
}

// How much of the background's colour an event with this slack gets, of 255: in proportion, never
// so much that it looks like idle time. 0 for none, and where nothing has any (palest 0).
[[nodiscard]] std::uint8_t paleness(base::Duration slack, base::Duration palest);

}  // namespace pleat::timeline
