// What a host thread did, cut into pieces that do not overlap: each moment belongs to the innermost
// operator or call that covers it. Frames of an interpreter and annotations only cover what others
// do, so time under them alone is no piece. Pure; linear in the events of the thread.
#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace pleat::graph {

// Whole microseconds, as older profilers write them, move an end by less than this.
inline constexpr base::Duration kRounding{2'000};

// Is the event a host's operator or a call of the runtime or driver?
[[nodiscard]] bool isHostWork(const trace::Trace& trace, trace::EventId id);

struct HostPiece {
    trace::EventId event;
    base::Interval span;     // may be empty for the call and the last piece of an event
    bool isCall = false;     // not a stretch but the moment the event began
    bool endsEvent = false;  // the event ends with this piece
};

// In order of time, within the window. `marked` (by event) says whose begin is a piece of its own;
// their last piece is there even if it is empty. An operator that outlives the one it was called in
// by more than kRounding keeps its time and is counted ("times_disagree").
[[nodiscard]] std::vector<HostPiece> hostPieces(const trace::Trace& trace, trace::LaneId thread,
                                                base::Interval window,
                                                const std::vector<bool>& marked,
                                                base::Diagnostics& diagnostics);

}  // namespace pleat::graph
