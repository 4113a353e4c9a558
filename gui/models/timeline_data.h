// What the timeline draws from, made once for a trace, off the window's thread: the index, links
// between events, iterations and the first colouring. Immutable; shared.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "graph/run_index.h"
#include "timeline/event_colours.h"
#include "timeline/event_links.h"
#include "timeline/lod_index.h"

namespace pleat::models {

// From the first begin of an iteration on any rank to its last end.
struct IterationMark {
    std::int32_t iteration = -1;
    base::Interval span;
    friend bool operator==(const IterationMark&, const IterationMark&) = default;
};

// Of the iterations that can be analysed (graph::RunIndex::windows), by ascending begin.
[[nodiscard]] std::vector<IterationMark> iterationMarks(const graph::RunIndex& run);

struct TimelineData {
    TimelineData(const std::shared_ptr<const trace::Trace>& trace, const graph::RunIndex& run,
                 timeline::WorkerPool& pool, const std::stop_token& stop)
        : index(trace, pool, stop),
          links(*trace),
          iterations(iterationMarks(run)),
          kinds(*trace, timeline::ColourMode::Kind, pool) {}

    [[nodiscard]] const trace::Trace& trace() const { return index.trace(); }

    timeline::LodIndex index;  // keeps the trace alive
    timeline::EventLinks links;
    std::vector<IterationMark> iterations;
    timeline::EventColours kinds;
};

// Null when it was asked to stop. `run` is of the same trace.
[[nodiscard]] std::shared_ptr<const TimelineData> makeTimelineData(
    const std::shared_ptr<const trace::Trace>& trace, const graph::RunIndex& run,
    const std::stop_token& stop);
[[nodiscard]] inline std::shared_ptr<const TimelineData> makeTimelineData(
    const std::shared_ptr<const trace::Trace>& trace, const std::stop_token& stop) {
    return makeTimelineData(trace, *trace, stop);
}

// The whole run as one strip of `columns` parts: how busy its ranks were (timeline/busy_strip.h).
// Makes the summaries of all ranks. Empty when it was asked to stop.
[[nodiscard]] std::vector<std::uint8_t> busyStrip(const TimelineData& data, std::size_t columns,
                                                  const std::stop_token& stop);

}  // namespace pleat::models
