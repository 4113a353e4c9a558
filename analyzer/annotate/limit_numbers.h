// Keeps what names, arguments and rules say within what a trace can hold (trace/limits.h): a number
// beyond is damage, and what sizes a table or adds bytes up must never meet it.
#pragma once

#include "annotate/draft.h"

namespace pleat::annotate {

// Tasks of an impossible stage or microbatch are left out; an impossible chunk, byte count, peer or
// sequence number counts as not recorded, as do impossible coordinates of a rank. Each is counted
// ("number_out_of_range").
void limitNumbers(Draft& draft);

}  // namespace pleat::annotate
