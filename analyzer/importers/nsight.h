// Nsight Systems' SQLite export (nsys export --type sqlite), from the oldest we have (2023) to
// 2026.2. Every table and every column is optional: what is not there is left out and said in the
// diagnostics.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

// Does the file look like such an export: SQLite with a table StringIds, META_DATA_EXPORT, or one
// of the CUPTI_ACTIVITY_KIND tables?
[[nodiscard]] bool isNsightExport(const std::filesystem::path& file);

// Adds one rank per process (number unknown, -1, unless the export says it), a lane per host thread
// and per device stream, and
//   - NVTX ranges and marks under their NVTX domain, payloads as flat JSON where exported;
//   - runtime and driver calls, kernels, copies, sets, graphs, synchronisations under the
//   categories
//     of trace/categories.h, with a Launch dependency from the call to the work of the same process
//     and correlation id;
// Times are relative to the earliest event. What was repaired, dropped or guessed goes to
// builder.diagnostics(). Input error naming the file where it is no such export or is damaged.
[[nodiscard]] base::Result<void> importNsight(const std::filesystem::path& file,
                                              trace::TraceBuilder& builder);

}  // namespace pleat::importers
