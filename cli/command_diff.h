// pleat diff BASE NEW; see docs/command_line.md.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addDiffCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
