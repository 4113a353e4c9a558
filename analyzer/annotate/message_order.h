// The messages of a rank in one iteration as a pipeline sees them: activations and gradients that
// came and went, each numbered by its order.
#pragma once

#include <array>
#include <vector>

#include "annotate/draft.h"
#include "annotate/pipeline_chain.h"

namespace pleat::annotate {

enum Flow : std::size_t { Forward, Backward };

struct RankIteration {
    trace::RankId rank;
    std::int32_t iteration = 0;
    PipelinePlace place;
    std::array<std::vector<trace::TransferId>, 2> received, sent;  // [Flow]

    [[nodiscard]] bool isComplete(std::int32_t microbatches) const;
};

// Where no recorded iteration says which one messages are of: a pipeline has run empty when the
// first rank has got back as many gradients as it sent activations, and there an iteration ends.
// Nothing where a recording begins in mid-iteration, or ranks have different numbers of messages.
void numberIterations(Draft& draft);

// In order of rank and iteration. Messages outside any iteration count as of iteration 0.
[[nodiscard]] std::vector<RankIteration> messagesOfRanks(const Draft& draft);

}  // namespace pleat::annotate
