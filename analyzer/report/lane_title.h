// What a lane is called where a person or another program reads it. Pure.
#pragma once

#include <string>

#include "trace/model.h"

namespace pleat::report {

// Its own name, else "thread 4711" or "stream 7".
[[nodiscard]] std::string laneTitle(const trace::Lane& lane);

}  // namespace pleat::report
