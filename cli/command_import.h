// pleat import: other tools' traces as one *.pleat file, and what was made of them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/trace_input.h"

namespace pleat::cli {

void addImportCommand(CLI::App& app, int& exitStatus);

// Opens the traces as one, writes them to `output` and prints what was read. The exit status.
int convertTraces(const TraceInput& input, const std::string& output);

}  // namespace pleat::cli
