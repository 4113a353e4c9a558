// The events of a trace as CSV (RFC 4180: a head line, CRLF), a row each, for spreadsheets and data
// frames. Times are the trace's own, in nanoseconds; a mark has no duration. The columns from
// iteration on are filled for events that are a task or a transfer; what is unknown is empty.
// Streams: besides the trace it needs memory only for an index of tasks and transfers. Pure but for
// the sink.
#pragma once

#include "report/text_writer.h"
#include "trace/trace.h"

namespace pleat::report {

// The sink's error when it refuses.
[[nodiscard]] base::Result<void> writeEventCsv(const trace::Trace& trace, const TextSink& sink);

}  // namespace pleat::report
