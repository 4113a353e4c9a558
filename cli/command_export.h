// pleat export TRACE --format chrome|csv -o FILE; see docs/command_line.md.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addExportCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
