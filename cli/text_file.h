// Whole text files in and out, with one-line errors.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pleat::cli {

// At most 64 MiB.
[[nodiscard]] base::Result<std::string> readTextFile(const std::string& file);

// Writes to stdout when `file` is empty or "-"; says so where not all of it could be written.
[[nodiscard]] base::Result<void> writeText(std::string_view text, const std::string& file);

}  // namespace pleat::cli
