// pleat record: runs a command under the collector, then stores what the recording means (tasks,
// transfers, …).
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addRecordCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
