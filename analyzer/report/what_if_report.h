// A prediction as text for a person: first how well the replay fits the run, then what it predicts.
// Renders only. Pure.
#pragma once

#include <string>

#include "analysis/what_if.h"

namespace pleat::report {

[[nodiscard]] std::string renderText(const analysis::WhatIf& answer);

}  // namespace pleat::report
