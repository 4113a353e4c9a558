// One of several recordings of one run, such as those of its nodes. Its events are added as they
// are; what was found in them is found again when all are together.
#pragma once

#include <functional>

#include "base/result.h"
#include "importers/file_facts.h"

namespace pleat::importers {

// Adds the recording's ranks, lanes, events and dependencies. Numbers and places of ranks that were
// guessed from the one recording are left open again. What was noted while it was recorded is kept
// and what was noted of its meaning is not; "recording_unfinished" where it goes on or broke off.
// Errors are those of store::load; Cancelled where `goOn` gave false.
[[nodiscard]] base::Result<FileFacts> importPleat(const std::filesystem::path& file,
                                                  trace::TraceBuilder& builder,
                                                  const std::function<bool()>& goOn);

}  // namespace pleat::importers
