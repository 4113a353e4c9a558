// What every timer may be wrong by. The one home of this number; what the timers of a trace were
// seen to be wrong by is timer_resolution.h.
#pragma once

#include "base/time.h"

namespace pleat::graph {

// Moments that are no further apart are one, as far as any timer tells.
inline constexpr base::Duration kOfATimer{1'000};

}  // namespace pleat::graph
