// Traces of profilers of device work (PyTorch's Kineto, Nsight Systems): communication from NCCL's
// kernels, with what the host said about the call that started them; iterations from ProfilerStep
// ranges; tasks from PyTorch pipelining's "PP:2F0".
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Adds to the draft.
void readProfiler(Draft& draft);

}  // namespace pleat::annotate
