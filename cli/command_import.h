// pleat import and pleat merge: traces as one *.pleat file, and what was read.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addImportCommand(CLI::App& app, int& exitStatus);
void addMergeCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
