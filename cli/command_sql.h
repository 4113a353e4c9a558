// pleat sql: read-only SQL on a trace.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addSqlCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
