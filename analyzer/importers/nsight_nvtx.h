// NVTX ranges and marks. Push/pop ranges nest on their thread; start/end ranges belong to the
// process and may overlap anything: both are events of the thread that began them, and
// "end_thread" names another that ended one. Ranges begun before the capture keep their times
// ("range_before_capture"); ranges without an end last to the last moment known of their thread
// ("open_range").
#pragma once

#include "importers/nsight_rows.h"

namespace pleat::importers {

[[nodiscard]] const NsightSection& nsightNvtxSection();

// After all other events: they say how long a thread was seen.
[[nodiscard]] base::Result<void> readNsightNvtx(NsightImport& import);

}  // namespace pleat::importers
