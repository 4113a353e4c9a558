// The table of schedule families as text and as JSON (pleat-schedule-families/1). Renders only.
// Pure.
#pragma once

#include <span>
#include <string>

#include "schedule/family.h"

namespace pleat::report {

[[nodiscard]] std::string renderText(std::span<const schedule::Family> families);
[[nodiscard]] std::string renderJson(std::span<const schedule::Family> families);

}  // namespace pleat::report
