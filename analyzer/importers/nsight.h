// Nsight Systems' SQLite export (nsys export --type sqlite), from the oldest we have (2023) to
// 2026.2. Every table and every column is optional: what is not there is left out and said in the
// diagnostics.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"
#include "importers/file_facts.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

// Does the file look like such an export: SQLite with a table StringIds, META_DATA_EXPORT, or one
// of the CUPTI_ACTIVITY_KIND tables?
[[nodiscard]] bool isNsightExport(const std::filesystem::path& file);

// Adds one rank per process that did something (number unknown, -1, unless the capture's
// environment says it), a lane per host thread and per device stream of a process, and
//   - NVTX ranges and marks under their NVTX domain, payloads as flat JSON where exported (names of
//     NCCL's fields: nsight_payloads.h), {"end_thread":tid} where another thread ended a range;
//   - runtime and driver calls, kernels, copies, sets, graphs, waits under the categories of
//     trace/categories.h, with a Launch dependency from the call to the work, and a Flow dependency
//     to the wait, of the same process and correlation id; NCCL's kernels with {"correlation":n},
//     copies with {"bytes":n,"copy_kind":"h2d"}. Waits on no stream (events, contexts) are on a
//     lane of their own, native id -1.
// Times are relative to the earliest event; the clock says how to get UTC, where the export knows.
// Reads in the order of the rows and keeps none of them.
//
// What was repaired, dropped or guessed goes to builder.diagnostics(): section_missing_<key>,
// section_unreadable_<key>, column_missing_<key> (nsight_source.h), duplicate_row,
// untimed_device_work, untimed_call, untimed_range, work_without_launch, launch_without_work,
// graph_as_whole, range_before_capture, open_range, domain_guessed, nccl_payload_missing,
// nvtx_event_ignored, name_missing, process_not_recorded.
//
// Input error naming the file where it is no such export or is damaged, Io error where it cannot be
// opened; the builder may then hold a part. `goOn` is asked now and then; false ends it with the
// code Cancelled.
[[nodiscard]] base::Result<FileFacts> importNsight(
    const std::filesystem::path& file, trace::TraceBuilder& builder,
    const std::function<bool()>& goOn = [] { return true; });

}  // namespace pleat::importers
