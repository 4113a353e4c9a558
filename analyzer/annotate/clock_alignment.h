// How far the clocks of ranks that were recorded apart lie from one another, from the communication
// they share: the members of a symmetric collective (all-reduce, all-gather, reduce-scatter,
// all-to-all, but not trees and not broadcasts) all end within microseconds of one another.
// Where two ranks share none, messages both ways bound it: none arrives before it is sent. Each
// rank is related to the reference along the ranks that leave the least error (Dijkstra over the
// bounds). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/diagnostics.h"
#include "base/id.h"
#include "base/time.h"
#include "trace/trace.h"

namespace pleat::annotate {

// What to add to a time of the rank: offset + drift * (time - origin).
struct ClockCorrection {
    base::Duration offset;
    double drift = 0;  // ns per ns; only where it is plain
    base::TraceTime origin;
    base::Duration bound;     // how wrong a corrected time may be, against the reference's
    std::size_t anchors = 0;  // collectives or messages it rests on; 0: nothing relates them
    bool byMessages = false;
};

struct ClockAlignment {
    trace::RankId reference;  // whose clock the others are put on
    base::IdVector<trace::RankTag, ClockCorrection> of;
    [[nodiscard]] bool corrects() const;  // false where all clocks are right as they are
    [[nodiscard]] base::TraceTime corrected(trace::RankId rank, base::TraceTime time) const;
};

// Needs matches. Nothing where no two ranks are related by any.
[[nodiscard]] std::optional<ClockAlignment> alignClocks(const trace::Trace& annotated);

// For whom times were corrected by how much ("clock_corrected"), whose clock could not be related
// ("clock_unknown"), and how well times compare now ("clock_bound").
[[nodiscard]] base::Diagnostics saidOfClocks(const trace::Trace& trace,
                                             const std::optional<ClockAlignment>& alignment);

// The same trace, its ranks with their bounds.
[[nodiscard]] trace::Trace withClockBounds(trace::Trace trace, const ClockAlignment& alignment);

// The same events, with their ranks' times corrected, without annotations; no other trace may share
// them.
[[nodiscard]] trace::Trace withCorrectedClocks(trace::Trace trace, const ClockAlignment& alignment);

}  // namespace pleat::annotate
