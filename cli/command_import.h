// pleat import: other tools' traces as one *.pleat file, and what was made of them.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addImportCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
