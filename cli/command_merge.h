// pleat merge: the recordings of several nodes as one trace.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addMergeCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
