// `pleat view`: the desktop viewer, a program of its own, in place of this one.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addViewCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
