// Iterations as devices saw them. A host's range of an iteration says when work was called; where
// the host runs ahead, the device does it later. Work belongs to the range in which it was called.
// A bound between two iterations comes from the stream that carries the training, the one with most
// of the compute that was called within ranges: a copy that a side stream makes ahead says nothing.
// Pure; the result is a plain value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "graph/device_kinds.h"
#include "trace/trace.h"

namespace pleat::graph {

struct DeviceStep {
    base::Interval span;     // the host's range where no device did anything
    bool onDevice = false;   // its begin is known from work of the device
    std::int64_t works = 0;  // that the stream of the training did for it
    // How far the begin may be wrong, as far as the recording tells; 0: it is known.
    base::Duration unsure;
};

// One for every iteration range of the trace's annotations, in their order. Work of a stream
// without a recorded call belongs to the iteration of what the stream ran before it; at the head of
// a stream to none, it was called before the recording began; on a stream without any call, to the
// range it begins in. O(events).
[[nodiscard]] std::vector<DeviceStep> deviceSteps(const trace::Trace& trace,
                                                  const DeviceWorkKinds& kinds);

}  // namespace pleat::graph
