// The one gate between what reads events and what relies on annotations: no number beyond
// trace/limits.h, no reference to what is not there, everything in the order that Annotations
// promises. Annotation and the loader of files both pass it, for names, arguments, rules and
// database rows can all be damaged. Whatever is left out or not used is counted.
#pragma once

#include <cstddef>

#include "base/diagnostics.h"
#include "trace/trace.h"

namespace pleat::trace {

class AnnotationGate {
  public:
    // Ranks and diagnostics are changed; everything given outlives the gate.
    AnnotationGate(const EventColumns& events, base::IdVector<RankTag, Rank>& ranks,
                   base::Diagnostics& diagnostics)
        : m_events(events), m_ranks(ranks), m_diagnostics(diagnostics) {}

    // A task of an impossible stage or microbatch is left out; another impossible number counts as
    // not recorded, as do impossible places of a rank ("number_out_of_range"); a moment beyond what
    // a trace can hold is kept there ("time_out_of_range"), an end before its start becomes an
    // empty span ("negative_duration"). Whoever sizes a table by these numbers before the
    // annotations are complete calls this first; tasks may still lack stage and microbatch (-1).
    void limit(Annotations& found);

    // All of it: limits, tasks without a stage or microbatch included, and leaves out what refers
    // to a rank, event, group or match that does not exist ("dangling_reference") and matches
    // without members; sorts. Sizes stay those of what was given. O(n), and O(n log n) where items
    // are not in order.
    [[nodiscard]] Annotations close(Annotations found);

  private:
    const EventColumns& m_events;
    base::IdVector<RankTag, Rank>& m_ranks;
    base::Diagnostics& m_diagnostics;
};

}  // namespace pleat::trace
