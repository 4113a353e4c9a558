// Calls of the CUDA runtime and driver, and what ran on the devices: kernels, copies, sets, graphs
// recorded as one whole, and waits. Rows written twice are dropped ("duplicate_row"), rows without
// usable times left out ("untimed_device_work", "untimed_call").
#pragma once

#include "importers/nsight_launches.h"
#include "importers/nsight_rows.h"

namespace pleat::importers {

// Every section below, for whoever asks for the earliest time of an export.
[[nodiscard]] std::vector<const NsightSection*> nsightDeviceSections();

// Calls first: they name the processes.
[[nodiscard]] base::Result<void> readNsightCalls(NsightImport& import, NsightLaunches& launches);
[[nodiscard]] base::Result<void> readNsightDeviceWork(NsightImport& import,
                                                      NsightLaunches& launches);

}  // namespace pleat::importers
