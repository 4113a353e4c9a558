// The order of compute actions on one rank, for each family of family.h. The sizes are legal for
// the family and complete (group filled in).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/action.h"
#include "schedule/generators.h"
#include "schedule/placement.h"

namespace pleat::schedule {

using OrderOfRank = std::vector<Action>(const GeneratorOptions& options, const Placement& placement,
                                        std::int32_t rank);

OrderOfRank gpipeOrder;
OrderOfRank oneForwardOneBackwardOrder;
OrderOfRank interleavedOrder;
OrderOfRank foldedOrder;

}  // namespace pleat::schedule
