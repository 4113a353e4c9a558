// A small annotated trace made by hand, with every table in use: two ranks of a pipeline of two
// stages, one iteration, one microbatch, and a launcher that is no rank.
#pragma once

#include "trace/trace.h"

namespace pleat::test {

[[nodiscard]] trace::Trace exampleTrace();

}  // namespace pleat::test
