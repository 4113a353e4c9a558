// pleat whatif TRACE; see docs/command_line.md.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addWhatIfCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
