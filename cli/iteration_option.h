// The option --iterations of several commands: which iterations to speak of. A command that reads
// two traces has another for the second.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/iterations.h"
#include "base/result.h"

namespace pleat::cli {

// "A:B" or "A"; several, repeated or with commas between them.
void addIterationOption(CLI::App& command, std::vector<std::string>& iterations);
void addIterationOption(CLI::App& command, std::vector<std::string>& iterations,
                        const std::string& option, const std::string& words);

// Usage error naming the text that is no range.
[[nodiscard]] base::Result<std::vector<analysis::IterationRange>> iterationRanges(
    const std::vector<std::string>& iterations, std::string_view option = "--iterations");

}  // namespace pleat::cli
