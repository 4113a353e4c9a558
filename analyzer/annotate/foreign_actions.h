// Pipeline actions ("2F0") that a program names outside the domains of docs/instrumenting.md: in a
// domain of its own, in NVTX's default domain, in any category of a Chrome trace. Such short names
// may mean something else, so they are taken only where they form a pipeline's work.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Where no task is known yet, adds tasks and transfers from the domain whose names most plausibly
// are actions: on nearly every stage and rank the microbatches count up from 0, and each that goes
// forward comes back ("actions_recognised"). Names that look like actions and are not used are
// counted, with what speaks against them ("actions_not_used").
// Where tasks are known, only the communication of torch.distributed.pipelining ("PP:2SEND_F0") is
// read.
void readForeignActions(Draft& draft);

}  // namespace pleat::annotate
