// The model: a byte-level GPT (vocabulary 256; token and position embedding; pre-norm blocks of
// causal attention and a GELU MLP; final layer norm; tied or untied head) cut into stages of
// equally many blocks. The first stage holds the embeddings, the last the final norm, the head and
// the loss. Every parameter is drawn from a generator seeded by (seed, its name), the name
// containing its layer, so initial values do not depend on the cut. Implemented on LibTorch, which
// this header does not show. Not thread-safe; see stage.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "instrumented_runtime/stage.h"

namespace pleat::runtime {

struct ModelConfig {
    std::int32_t layers = 4;
    std::int32_t hidden = 64;
    std::int32_t heads = 4;
    std::int32_t sequence = 64;
    std::int32_t microbatchSize = 1;
    bool tiedHead = false;
    std::uint64_t seed = 1;
    double learningRate = 1e-3;
    double lossScale =
        1;  // 1 / microbatches of the global batch: gradients then sum to those of the mean loss
};

// One thread per rank for tensor operations; called once before any stage is made.
void prepareTensorLibrary();

// Stage `stage` of `stages`; layers must be divisible by stages, hidden by heads.
[[nodiscard]] base::Result<std::unique_ptr<Stage>> makeGptStage(const ModelConfig& config,
                                                                std::int32_t stage,
                                                                std::int32_t stages);

struct NamedParameter {
    std::string name;
    std::vector<float> values;
};
// The current parameters of a stage made by makeGptStage, in its own order.
[[nodiscard]] std::vector<NamedParameter> parametersOf(const Stage& stage);

}  // namespace pleat::runtime
