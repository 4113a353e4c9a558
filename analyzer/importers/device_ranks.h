// One process that works on several devices is shown and accounted device by device: each device
// becomes a trace::Rank of its own with the process's number, the first one keeps the host's
// threads. A device with hardly any work (a context that every process opens on device 0, a copy
// from a peer) stays with the first.
#pragma once

#include "importers/file_facts.h"

namespace pleat::importers {

// Adds ranks behind those of the file, which must be the builder's last. Says
// "device_with_little_work".
void separateDevices(ReadFile& file, trace::TraceBuilder& builder);

}  // namespace pleat::importers
