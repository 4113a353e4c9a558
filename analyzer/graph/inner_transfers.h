// Communication within tasks: a tensor-parallel all-reduce between two kernels of a forward, the
// buckets of gradients that a backward sends off. Only what the task computes is its own work; for
// how long it is blocked depends on other ranks. Pure.
#pragma once

#include <vector>

#include "base/interval_set.h"
#include "graph/device_kinds.h"
#include "trace/trace.h"

namespace pleat::graph {

// A communication that a rank began within one of its tasks. `blocked` is when the task did nothing
// but wait for it; empty where the communication ran beside the task's own work.
struct InnerTransfer {
    trace::TaskId task;
    trace::TransferId transfer;
    base::Interval blocked;
};

// Transfers on a device stream that begin while their rank's task runs there, and ranges that lie
// within a task's range on the thread that runs both. Ordered by task, then the transfer's begin.
// O(n log n) in tasks, transfers and device work.
[[nodiscard]] std::vector<InnerTransfer> innerTransfers(const trace::Trace& trace,
                                                        const DeviceWorkKinds& kinds);

}  // namespace pleat::graph
