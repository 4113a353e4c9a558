// Chrome's trace event format in all its dialects: PyTorch's profiler (Kineto), ndtimeline,
// Megatron-style dumps, anything that Perfetto or chrome://tracing open. Source: the Trace Event
// Format document; facts about writers in docs/importing.md.
#pragma once

#include <functional>

#include "base/result.h"
#include "importers/event_stream.h"
#include "importers/file_facts.h"
#include "trace/trace_builder.h"

namespace pleat::importers {

// Adds a file's ranks, lanes and events to the builder. A file of PyTorch's profiler is one rank;
// in others every process is one, or every "PP rank …, TP rank …" where threads are named so
// (ndtimeline). Whatever was repaired, dropped or guessed is a diagnostic of the builder. Input
// error where there is nothing to read. `allRead` is called when all of it was read and some of it
// not yet added. Times are added as they are in the file; those of a profiler that names its base
// count from there.
[[nodiscard]] base::Result<FileFacts> importChrome(EventStream& file, trace::TraceBuilder& builder,
                                                   const std::function<void()>& allRead);

}  // namespace pleat::importers
