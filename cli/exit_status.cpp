#include "cli/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

namespace pleat::cli {

int fail(const base::Error& error) {
    fmt::print(stderr, "pleat: {}\n", error.message);
    return error.code == base::ErrorCode::Usage ? kWrongUsage : kUnusableInput;
}

}  // namespace pleat::cli
