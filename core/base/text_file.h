// A whole text file in memory, with one-line errors.
#pragma once

#include <string>

#include "base/result.h"

namespace pleat::base {

// At most 64 MiB. Io error naming the file where it cannot be read, Input error where it is larger.
[[nodiscard]] Result<std::string> readTextFile(const std::string& file);

}  // namespace pleat::base
