// What devices did, from the events of their streams: kernels that compute, kernels that
// communicate, copies. Where a rank's device was recorded, this is what its accounting counts; a
// host's or a task's range only says what the work was for. Linear passes over the columns; pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/activity.h"
#include "base/interval_set.h"
#include "graph/run_index.h"
#include "trace/device_work.h"
#include "trace/trace.h"

namespace pleat::analysis {

using trace::DeviceWork;
using trace::DeviceWorkKinds;

// Adds compute and copies of the ranks' streams to their activities. `windows` ascending and
// disjoint, `activities` as collectActivities has them. O(events).
void addDeviceWork(const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
                   std::span<const trace::RankId> ranks,
                   std::vector<std::vector<RankActivity>>& activities);

// Why a device was idle, as far as its own recording says.
struct IdleReasons {
    base::IntervalSet hostLate;  // what ran next was called only after the device was free
    base::IntervalSet untraced;  // a call within started work that is not in the trace
};

// What is asked for every window of a trace, found out once.
class IdleExplainer {
  public:
    // O(events). The index must outlive it.
    explicit IdleExplainer(const graph::RunIndex& run);
    // Parts of the rank's idle time, disjoint. O((idle pieces + events within) x streams).
    [[nodiscard]] IdleReasons of(trace::RankId rank, const base::IntervalSet& idle) const;

  private:
    void findUntraced();

    const trace::Trace& m_trace;
    const DeviceWorkKinds& m_kinds;
    base::IdVector<trace::RankTag, std::vector<trace::Trace::EventRange>> m_streams;
    // Calls that started nothing in the trace, though their name says that they start work;
    // ascending.
    base::IdVector<trace::RankTag, std::vector<base::TraceTime>> m_untraced;
};

}  // namespace pleat::analysis
