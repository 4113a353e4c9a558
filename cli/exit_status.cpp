#include "cli/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/say.h"

namespace pleat::cli {

int fail(const base::Error& error) {
    base::say(fmt::format("pleat: {}", error.message));
    return error.code == base::ErrorCode::Usage ? kWrongUsage : kUnusableInput;
}

}  // namespace pleat::cli
