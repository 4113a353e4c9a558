// A trace in the Chrome trace event format (JSON), as Perfetto opens it without an import error: a
// process per rank, a thread per lane and further ones for events that overlap without nesting
// (event_tracks.h), arrows for launches, recorded flows and matched send/receive pairs. Times are
// microseconds with three decimals, printed from the integer nanoseconds, and begin with the
// earliest event. Streams: besides the trace it needs memory only for events that overlap. Pure but
// for the sink.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/diagnostics.h"
#include "report/text_writer.h"
#include "trace/trace.h"

namespace pleat::report {

struct ChromeOptions {
    std::string version;                       // of this Pleat
    std::optional<std::int64_t> originUnixNs;  // of trace time 0, where it is known
};

// What had to be left out: "arguments_left_out" (no JSON object), "arrow_left_out" (an end is no
// range, or the arrow would lead back in time). The sink's error when it refuses.
[[nodiscard]] base::Result<base::Diagnostics> writeChromeTrace(const trace::Trace& trace,
                                                               const ChromeOptions& options,
                                                               const TextSink& sink);

}  // namespace pleat::report
