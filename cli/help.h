// The help of all commands: each option with the type of its value, wrapped to the terminal's
// width (80 columns where output is no terminal, unless COLUMNS says otherwise). Examples stay on
// one line, to be copied.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

// Subcommands added afterwards use it too.
void useHelp(CLI::App& app);

}  // namespace pleat::cli
