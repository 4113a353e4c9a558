// The order of the ranks of a pipeline from who sends to whom: neighbours exchange messages, and
// the first rank of an iteration sends before it receives. Looped placements (interleaved) make
// rings, which have no first rank; they stay unknown. Pure.
#pragma once

#include <cstdint>

#include "annotate/draft.h"

namespace pleat::annotate {

struct PipelinePlace {
    std::int32_t stage = -1, stages = 0;    // -1: not part of a chain
    std::int32_t previous = -1, next = -1;  // rank numbers of the neighbours
};

// By RankId. Needs transfers in order of rank and start.
[[nodiscard]] base::IdVector<trace::RankTag, PipelinePlace> pipelineChains(const Draft& draft);

}  // namespace pleat::annotate
