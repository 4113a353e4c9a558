// A whole file as a string.
#pragma once

#include <string>

#include "base/result.h"

namespace pleat::runtime {

// Usage error "<option> <file>: cannot be read: <why>" for what an option names; a folder is no
// file.
[[nodiscard]] base::Result<std::string> readFileOf(const std::string& option,
                                                   const std::string& file);

}  // namespace pleat::runtime
