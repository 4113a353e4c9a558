// Traces of profilers of device work (PyTorch's Kineto, Nsight Systems): communication from NCCL's
// kernels, with what the host said about the call that started them; iterations from ProfilerStep
// ranges; tasks from PyTorch pipelining's "PP:2F0".
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Adds to the draft. A collective that does not say its communicator is taken as of all ranks and
// counted per rank
// ("communicator_guessed"), if all ranks ran the same operations in the same order; else it stays
// without a group
// ("collectives_differ").
void readProfiler(Draft& draft);

}  // namespace pleat::annotate
