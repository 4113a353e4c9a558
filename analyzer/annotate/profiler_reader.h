// Traces of profilers of device work (PyTorch's Kineto, Nsight Systems): communication from NCCL's
// kernels, with what the host said about the call that started them; iterations from ProfilerStep
// ranges; tasks from PyTorch pipelining's "PP:2F0".
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Adds to the draft. A collective that does not say its communicator is taken as of all ranks
// ("communicator_guessed"), and one without a number is counted (order_numbers.h).
void readProfiler(Draft& draft);

}  // namespace pleat::annotate
