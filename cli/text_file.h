// A whole text out, with one-line errors.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pleat::cli {

// Writes to stdout when `file` is empty or "-"; says so where not all of it could be written.
[[nodiscard]] base::Result<void> writeText(std::string_view text, const std::string& file);

}  // namespace pleat::cli
