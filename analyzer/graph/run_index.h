// What every analysis asks of a trace, found out once: the windows of its iterations, the ranks
// that take part, the kind of each device event, and which tasks, phases and transfers belong to
// which iteration, so that an analysis of one iteration never scans those of all others.
//
// Made when a trace is analysed and passed to every analysis. Where only one analysis is asked of a
// trace, it may be made in passing: RunIndex converts from a Trace. Immutable once made; safe to
// read from any thread; the trace must outlive it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "graph/device_kinds.h"
#include "graph/inner_transfers.h"
#include "graph/iteration_windows.h"
#include "graph/timer_resolution.h"
#include "graph/touching.h"
#include "trace/trace.h"

namespace pleat::graph {

// Indices into the trace's annotations, ascending.
struct IterationItems {
    std::span<const std::uint32_t> tasks, phases, transfers;
};

// How long all annotations of a trace are together, and from the first to the last of them, in
// nanoseconds. As floating point: of a damaged trace, neither need fit into 64 bits.
struct Extent {
    double sum = 0, first = 0x1p63, last = -0x1p63;

    void add(base::Interval span) {
        sum += static_cast<double>(span.length().ns);
        first = std::min(first, static_cast<double>(span.begin.ns));
        last = std::max(last, static_cast<double>(span.end.ns));
    }
    [[nodiscard]] double length() const { return std::max(last - first, 0.0); }
};

class RunIndex {
  public:
    // O(events + n log n) in tasks, phases, transfers and iteration ranges.
    RunIndex(const trace::Trace& trace);

    [[nodiscard]] const trace::Trace& trace() const { return *m_trace; }
    // Ascending and disjoint (iteration_windows.h).
    [[nodiscard]] std::span<const IterationWindow> windows() const { return m_windows; }
    // Ranks with a number and at least one task, ascending by number. In a trace without any task,
    // those with device work.
    [[nodiscard]] std::span<const trace::RankId> trainingRanks() const { return m_ranks; }
    [[nodiscard]] const DeviceWorkKinds& kinds() const { return m_kinds; }
    // By RankId: has it a device stream with any work?
    [[nodiscard]] const std::vector<bool>& onDevice() const { return m_onDevice; }
    // What has to be said of the windows; each analysis hands it on.
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }
    // Communication within tasks, ordered by task.
    [[nodiscard]] std::span<const InnerTransfer> inner() const { return m_inner; }
    [[nodiscard]] const TimerResolution& resolution() const { return m_resolution; }
    // Sends end without their receivers (message_style.h).
    [[nodiscard]] bool sendsAreBuffered() const { return m_sendsAreBuffered; }
    // What was recorded for the iteration; nothing for one without a window. O(log windows).
    [[nodiscard]] IterationItems itemsOf(std::int32_t iteration) const;
    [[nodiscard]] const TouchIndex& tasksTouching() const { return m_tasks.touching; }
    [[nodiscard]] const TouchIndex& phasesTouching() const { return m_phases.touching; }
    [[nodiscard]] const TouchIndex& transfersTouching() const { return m_transfers.touching; }
    [[nodiscard]] const Extent& extent() const { return m_extent; }
    // The iteration whose window is before this one's; -1 where there is none.
    [[nodiscard]] std::int32_t iterationBefore(std::int32_t iteration) const;

  private:
    // Entries of a list grouped by window: those of window w are [first[w], first[w + 1]).
    struct Grouped {
        std::vector<std::uint32_t> first, items;
        TouchIndex touching;
        [[nodiscard]] std::span<const std::uint32_t> of(std::size_t window) const {
            return std::span(items).subspan(first[window], first[window + 1] - first[window]);
        }
    };
    [[nodiscard]] std::size_t windowOf(std::int32_t iteration) const;  // windows.size(): none
    template <class Items>
    [[nodiscard]] Grouped grouped(const Items& items);

    const trace::Trace* m_trace;
    DeviceWorkKinds m_kinds;
    base::Diagnostics m_diagnostics;  // before the windows, of which it tells
    std::vector<bool> m_onDevice;
    std::vector<IterationWindow> m_windows;
    Extent m_extent;
    Grouped m_tasks, m_phases, m_transfers;
    std::vector<trace::RankId> m_ranks;
    std::vector<InnerTransfer> m_inner;
    TimerResolution m_resolution;
    bool m_sendsAreBuffered = false;
};

}  // namespace pleat::graph
