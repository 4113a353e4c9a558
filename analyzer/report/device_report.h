// The catalogue of a trace's device work, for people and for programs.
#pragma once

#include <string>

#include "analysis/device_catalogue.h"

namespace pleat::report {

// Sections of the text report: kernels, launches, copies, bandwidth.
[[nodiscard]] std::string renderText(const analysis::DeviceCatalogue& catalogue);

}  // namespace pleat::report
