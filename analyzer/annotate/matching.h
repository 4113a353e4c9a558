// Third step of annotation: the parts of one communication find each other, by group and sequence
// where recorded, else by order. O(n log n) in the transfers.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

void matchTransfers(Draft& draft);

}  // namespace pleat::annotate
