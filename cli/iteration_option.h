// The option --iterations of several commands: which iterations to speak of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analysis/iterations.h"
#include "base/result.h"

namespace pleat::cli {

// "A:B" or "A"; several, repeated or with commas between them.
void addIterationOption(CLI::App& command, std::vector<std::string>& iterations);

// Usage error naming the text that is no range.
[[nodiscard]] base::Result<std::vector<analysis::IterationRange>> iterationRanges(
    const std::vector<std::string>& iterations);

}  // namespace pleat::cli
