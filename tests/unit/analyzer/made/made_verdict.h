// Reads a made run as any file is read and judges the answer: whether a person who reads the report
// is led to what was put in. Pure but for the files that it writes into a folder of its own.
#pragma once

#include <filesystem>
#include <string>

#include "support/made_run.h"
#include "trace/trace.h"

namespace pleat::testing {

struct MadeVerdict {
    std::string blame;    // empty: the cause is named first, with its rank; else what is said
    std::string account;  // empty: every part of every rank is as it was; else the worst difference
    double unknown = 0;   // share of all ranks' time that the bubble's causes leave unexplained
};

// The run's recording, imported where it is of another program, and annotated.
[[nodiscard]] trace::Trace traceOf(const MadeRun& run);

// The run's recording as files that any command opens, in a folder that exists.
void writeFiles(const MadeRun& run, const std::filesystem::path& folder);

[[nodiscard]] MadeVerdict judge(const MadeRun& run);

}  // namespace pleat::testing
