// What people ask of a trace with device work apart from its pipeline: which kernels take the time,
// how far the host runs ahead, how fast copies and collectives are. Over the whole trace and all
// ranks with a number. Pure; results are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device_queue.h"
#include "analysis/device_work.h"
#include "base/time.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct KernelFigures {
    std::string name;
    DeviceWork kind = DeviceWork::Compute;
    std::int64_t count = 0;
    base::Duration total, longest;
};

struct LaunchFigures {
    std::int64_t count = 0;                // pieces of work whose call is recorded
    std::int64_t shortOnes = 0;            // of them shorter than 10 us, about what a call costs
    base::Duration medianDelay, p90Delay;  // from call to start; nearest rank
};

struct CopyFigures {
    std::string name;  // as the profiler writes it, with its direction
    std::int64_t count = 0;
    std::int64_t bytes = 0;  // of those that say it
    base::Duration total;
    std::optional<double> bytesPerSecond;
};

// Collectives and messages of one kind. Bandwidths as NCCL's tests define them: algorithm = bytes /
// time while data moves, bus = that times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n
// for all-gather, reduce-scatter and all-to-all, else 1. Absent where no bytes are recorded.
struct CommunicatorFigures {
    trace::Dimension dimension = trace::Dimension::Other;
    trace::Operation operation = trace::Operation::Other;
    std::int64_t members = 0;  // of the group; 2 for messages
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    base::Duration moving;
    std::optional<double> algorithmBandwidth, busBandwidth;  // bytes a second
};

struct DeviceCatalogue {
    std::vector<KernelFigures> kernels;  // by name, most time first
    LaunchFigures launches;
    std::vector<DeviceQueue> queues;                 // by rank
    std::vector<CopyFigures> copies;                 // most time first
    std::vector<CommunicatorFigures> communicators;  // by dimension, operation, members
};

// Nothing where no rank has device work. O(n log n) in device events.
[[nodiscard]] std::optional<DeviceCatalogue> catalogueDevices(const graph::RunIndex& run);

}  // namespace pleat::analysis
