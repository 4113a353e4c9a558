// The options with which every command is told its TRACE; opening it is analyzer/opening's.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace pleat::cli {

struct TraceInput {
    std::vector<std::string> files;
    std::vector<std::string> ranks;  // "FILE=N"
    std::string rules;               // JSON file: what names mean (docs/importing.md)

    // For words: the one file, or "a.json and 7 more".
    [[nodiscard]] std::string name() const;
    // Usage error where `output` is one of the files that would be read, in folders too.
    [[nodiscard]] base::Result<void> mayWriteTo(const std::string& output) const;
};

// TRACE… and the options that say how to read it.
void addTraceInput(CLI::App& command, TraceInput& input);

// Warns on stderr when a recording is still running or was interrupted.
[[nodiscard]] base::Result<trace::Trace> openTrace(const TraceInput& input);

}  // namespace pleat::cli
