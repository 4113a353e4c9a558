// A registered NVTX payload schema as the layout text the recorder reads
// (collector/payload_layout.h).
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <string>

namespace pleat::collector {

// Numbers and fixed char arrays of static schemas; entries of other types are left out, and their
// size with natural alignment is still counted where it is known. From the first entry of unknown
// size on nothing is described, unless entries give their own offsets.
[[nodiscard]] std::string describeLayout(const nvtxPayloadSchemaAttr_t& schema);

}  // namespace pleat::collector
