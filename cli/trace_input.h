// How every command opens TRACE: reads the file and annotates it where the recording did not get to
// it.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "trace/trace.h"

namespace pleat::cli {

// Warns on stderr when the recording is still running or was interrupted.
[[nodiscard]] base::Result<trace::Trace> openTrace(const std::filesystem::path& file);

}  // namespace pleat::cli
