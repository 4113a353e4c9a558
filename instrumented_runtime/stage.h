// A stage of the model as the engine sees it: forward and backward of one microbatch on flat
// buffers, and one flat gradient bucket. Used by one thread, except that the gradient bucket is
// reduced in place by a communication thread between the stage's last backward and step().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "instrumented_runtime/buffer.h"

namespace pleat::runtime {

// The bytes a stage reads and predicts in one microbatch: [microbatchSize][sequence], row by row.
struct TokenBatch {
    std::vector<std::uint8_t> inputs;
    std::vector<std::uint8_t> targets;  // inputs moved by one
};

class Stage {
  public:
    Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    virtual ~Stage() = default;

    // Values in one activation message between stages (and in its gradient).
    [[nodiscard]] virtual std::size_t messageSize() const = 0;

    // Zeroes the gradients and sets the batches of this iteration, one per microbatch. They outlive
    // the iteration.
    virtual void beginIteration(std::span<const TokenBatch> batches) = 0;

    // `input` is empty on the first stage; the result is empty on the last. Keeps what backward
    // needs.
    [[nodiscard]] virtual base::Result<Buffer> forward(std::int32_t microbatch,
                                                       const Buffer& input) = 0;
    // `outputGradient` is empty on the last stage; the result is empty on the first. Adds to the
    // gradients and frees what forward kept.
    [[nodiscard]] virtual base::Result<Buffer> backward(std::int32_t microbatch,
                                                        const Buffer& outputGradient) = 0;

    // All gradients of the stage; on the last stage the final value is the sum of the losses of
    // this iteration's microbatches, so that it is reduced over the data-parallel ranks along with
    // the gradients.
    [[nodiscard]] virtual Buffer gradients() = 0;
    // The part of gradients() that is shared between first and last stage (tied head); empty where
    // nothing is.
    [[nodiscard]] virtual Buffer tiedGradient() = 0;

    // One optimizer step from the gradients.
    [[nodiscard]] virtual base::Result<void> step() = 0;
};

}  // namespace pleat::runtime
