// How far the clocks of ranks that were recorded apart are from one another. Ranks of one
// recording, and of recordings that share a clock (importers/file_clock.h), are on one and are
// never moved against each other, unless collectives that end together show plainly that they are
// not. For clocks that differ: the members of a symmetric collective (all-reduce, all-gather,
// reduce-scatter, all-to-all, but not trees and not broadcasts) that were recorded all end within
// microseconds of one another, however many others there are. Where two clocks share none, messages
// bound them: none arrives before it is sent. UTC relates the rest, as well as hosts keep it. Each
// clock is related to the reference along the clocks that leave the least error (Dijkstra over the
// bounds). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
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
    base::Duration bound;  // how wrong a corrected time may be, against the reference's
    // On what it rests. Nothing: its clock could not be related.
    enum class Basis : std::uint8_t { Nothing, SameClock, Collectives, Messages, Utc };
    Basis basis = Basis::Nothing;
    std::size_t anchors = 0;  // how many collectives or messages
};

struct ClockAlignment {
    trace::RankId reference;  // whose clock the others are put on
    base::IdVector<trace::RankTag, ClockCorrection> of;
    base::IdVector<trace::RankTag, std::int32_t> clock;  // equal numbers: one clock
    std::size_t clocks = 0;
    base::Diagnostics diagnostics;        // of the clocks that were told apart
    [[nodiscard]] bool corrects() const;  // false where all clocks are right as they are
    [[nodiscard]] base::TraceTime corrected(trace::RankId rank, base::TraceTime time) const;
};

// Needs matches. Nothing where there are several clocks and nothing relates any two.
[[nodiscard]] std::optional<ClockAlignment> alignClocks(const trace::Trace& annotated);

// Whose times were corrected by how much ("clock_corrected"), who shares a clock ("clock_shared"),
// which recordings were taken to share one and do not ("clock_not_shared"), whose clock could not
// be related ("clock_unknown"), and how well times compare now ("clock_bound").
[[nodiscard]] base::Diagnostics saidOfClocks(const trace::Trace& trace,
                                             const std::optional<ClockAlignment>& alignment);

// The same trace, its ranks with their clocks and bounds.
[[nodiscard]] trace::Trace withClocks(trace::Trace trace, const ClockAlignment& alignment);

// The same events, with their ranks' times corrected, without annotations; no other trace may share
// them.
[[nodiscard]] trace::Trace withCorrectedClocks(trace::Trace trace, const ClockAlignment& alignment);

}  // namespace pleat::annotate
