// pleat schedule show|validate|convert|simulate: work on schedules without a trace.
#pragma once

#include <CLI/CLI.hpp>

namespace pleat::cli {

void addScheduleCommand(CLI::App& app, int& exitStatus);

}  // namespace pleat::cli
