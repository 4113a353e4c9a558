// Which ranks have device work at all; what kind each piece is decides trace/device_work.h. Pure.
#pragma once

#include <vector>

#include "trace/device_work.h"

namespace pleat::graph {

using trace::DeviceWork;
using trace::DeviceWorkKinds;

// By RankId: has it a device stream with any work?
[[nodiscard]] std::vector<bool> ranksWithDeviceWork(const trace::Trace& trace,
                                                    const DeviceWorkKinds& kinds);

}  // namespace pleat::graph
