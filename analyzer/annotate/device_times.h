// Host ranges that name tasks only say how long it took to launch them: where the device's work was
// recorded, a task lasts from the start of the first to the end of the last of what was launched
// within its range.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Tasks and phases of host lanes get the times of the work launched within; those that launched
// none keep the host's ("host_time_of_task", where their rank has device work at all).
// Communication kernels are no part of a task: they last as long as others are late.
void takeDeviceTimes(Draft& draft);

// A host range that a rule calls a transfer says more about the communication kernels launched
// within it, where there are any: they get what it knows, and it is left out, so that nothing is
// counted twice.
void giveTransfersToKernels(Draft& draft);

}  // namespace pleat::annotate
