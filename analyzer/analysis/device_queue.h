// How far each rank's host runs ahead of its device, and what its device waited for where it was
// idle, as the recording of calls and work alone says it. Over the whole trace. Pure; results are
// plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/device_work.h"
#include "base/time.h"
#include "trace/trace.h"

namespace pleat::analysis {

// Work that was called before its device was free and begins no later than this after what ran
// before follows it as fast as a device can.
inline constexpr base::Duration kBetweenKernels{2'000};
inline constexpr std::size_t kQueueSpans = 60;

// Between the rank's first work and its last end: busy + hostWait + betweenWork + other is all of
// it. (HolisticTraceAnalysis splits idle time in the same three.)
struct DeviceIdle {
    base::Duration busy;         // any stream at work
    base::Duration hostWait;     // what ran next was called only after the device was free
    base::Duration betweenWork;  // called before, and begun within kBetweenKernels
    base::Duration other;  // called before, and held up by what is not recorded; or no call is
};

struct DeviceQueue {
    std::string device;  // where the process worked on several; else empty
    std::int32_t rank = -1;    // number
    std::int64_t deepest = 0;  // most that were called and not begun
    double meanDepth = 0;      // over time
    double emptyFraction = 0;  // of the time
    // Mean depth in kQueueSpans equal spans of the rank's device time; empty where no call is
    // recorded.
    std::vector<double> depthOverTime;
    DeviceIdle idle;
};

// By rank number; ranks with device work only. O(n log n) in device events.
[[nodiscard]] std::vector<DeviceQueue> deviceQueues(const trace::Trace& trace,
                                                    const DeviceWorkKinds& kinds);

}  // namespace pleat::analysis
