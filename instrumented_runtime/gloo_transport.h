// Transport on c10d's Gloo: ranks find each other in a TCPStore served by rank 0; every group is a
// ProcessGroupGloo of its own. LibTorch is not shown here.
#pragma once

#include <memory>

#include "base/result.h"
#include "instrumented_runtime/environment.h"
#include "instrumented_runtime/transport.h"

namespace pleat::runtime {

// Io error when the store cannot be reached within a minute.
[[nodiscard]] base::Result<std::unique_ptr<Transport>> connectGloo(
    const RankEnvironment& environment);

}  // namespace pleat::runtime
