#include "instrumented_runtime/gpt_stage.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <exception>
#include <map>
#include <string_view>
#include <utility>

namespace pleat::runtime {
namespace {

constexpr std::int64_t kVocabulary = 256;
constexpr double kInitialDeviation = 0.02;

// FNV-1a over the name, mixed with the seed by one splitmix64 step: close seeds give unrelated
// streams.
std::uint64_t parameterSeed(std::uint64_t seed, std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char letter : name) {
        hash = (hash ^ static_cast<std::uint8_t>(letter)) * 0x100000001b3ULL;
    }
    std::uint64_t mixed = hash + seed * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
}

Buffer shareTensor(const at::Tensor& tensor) {
    auto owner = std::make_shared<at::Tensor>(tensor.detach().contiguous());
    float* data = owner->data_ptr<float>();
    const auto size = static_cast<std::size_t>(owner->numel());
    return {std::move(owner), data, size};
}

at::Tensor viewBuffer(const Buffer& buffer, at::IntArrayRef shape) {
    return at::from_blob(
        buffer.data, shape, [owner = buffer.owner](void*) {}, at::kFloat);
}

at::Tensor tokenTensor(const std::vector<std::uint8_t>& tokens, std::int64_t rows,
                       std::int64_t columns) {
    auto* bytes = const_cast<std::uint8_t*>(
        tokens.data());  // from_blob takes no const pointer; .to() copies at once
    return at::from_blob(bytes, {rows, columns}, at::kByte).to(at::kLong);
}

// The exceptions of the tensor library end here.
template <class Function>
auto guarded(const std::string& what, Function&& function) -> decltype(function()) {
    try {
        return function();
    } catch (const c10::Error& error) {
        return base::Error{base::ErrorCode::Unsupported,
                           what + ": " + error.what_without_backtrace()};
    } catch (const std::exception& error) {
        return base::Error{base::ErrorCode::Unsupported, what + ": " + error.what()};
    }
}

struct Block {
    at::Tensor norm1Weight, norm1Bias, attentionWeight, attentionBias, projectionWeight,
        projectionBias;
    at::Tensor norm2Weight, norm2Bias, expandWeight, expandBias, contractWeight, contractBias;
};

class GptStage final : public Stage {
  public:
    GptStage(const ModelConfig& config, std::int32_t stage, std::int32_t stages)
        : m_config(config), m_stage(stage), m_first(stage == 0), m_last(stage == stages - 1) {
        const std::int32_t layersPerStage = config.layers / stages;
        makeParameters(stage * layersPerStage, (stage + 1) * layersPerStage);
        bindGradients();
        m_mask = at::full({config.sequence, config.sequence}, -INFINITY).triu(1);
        m_optimizer = std::make_unique<torch::optim::Adam>(
            m_parameters, torch::optim::AdamOptions(config.learningRate));
    }

    [[nodiscard]] std::size_t messageSize() const override {
        return static_cast<std::size_t>(m_config.microbatchSize) *
               static_cast<std::size_t>(m_config.sequence) *
               static_cast<std::size_t>(m_config.hidden);
    }

    void beginIteration(std::span<const TokenBatch> batches) override {
        m_batches = batches;
        m_bucket.zero_();
    }

    [[nodiscard]] base::Result<Buffer> forward(std::int32_t microbatch,
                                               const Buffer& input) override {
        return guarded(describe("forward", microbatch), [&]() -> base::Result<Buffer> {
            at::Tensor entry = m_first ? embed(microbatch) : viewBuffer(input, messageShape());
            if (!m_first) {
                entry.requires_grad_(true);
            }
            at::Tensor exit = entry;
            for (const Block& block : m_blocks) {
                exit = runBlock(block, exit);
            }
            if (m_last) {
                exit = loss(microbatch, exit);
            }
            m_kept[microbatch] = {m_first ? at::Tensor() : entry, exit};
            return m_last ? Buffer{} : shareTensor(exit);
        });
    }

    [[nodiscard]] base::Result<Buffer> backward(std::int32_t microbatch,
                                                const Buffer& outputGradient) override {
        return guarded(describe("backward", microbatch), [&]() -> base::Result<Buffer> {
            auto node = m_kept.extract(microbatch);
            const auto& [entry, exit] = node.mapped();
            if (m_last) {
                exit.backward();
            } else {
                exit.backward(viewBuffer(outputGradient, messageShape()));
            }
            return m_first ? Buffer{} : shareTensor(entry.grad());
        });
    }

    [[nodiscard]] Buffer gradients() override { return shareTensor(m_bucket); }
    [[nodiscard]] Buffer tiedGradient() override {
        return m_tied.defined() ? shareTensor(m_tied.grad()) : Buffer{};
    }

    [[nodiscard]] base::Result<void> step() override {
        return guarded("optimizer step of stage " + std::to_string(m_stage),
                       [&]() -> base::Result<void> {
                           m_optimizer->step();
                           return {};
                       });
    }

    [[nodiscard]] std::vector<NamedParameter> parameters() const {
        std::vector<NamedParameter> named;
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            const at::Tensor values = m_parameters[i].detach().contiguous();
            const float* data = values.data_ptr<float>();
            named.push_back({m_names[i], std::vector<float>(data, data + values.numel())});
        }
        return named;
    }

  private:
    struct Kept {
        at::Tensor entry;  // leaf whose gradient goes back to the previous stage; undefined on the
                           // first stage
        at::Tensor exit;
    };

    [[nodiscard]] std::vector<std::int64_t> messageShape() const {
        return {m_config.microbatchSize, m_config.sequence, m_config.hidden};
    }
    [[nodiscard]] std::string describe(std::string_view what, std::int32_t microbatch) const {
        return std::string(what) + " of stage " + std::to_string(m_stage) + ", microbatch " +
               std::to_string(microbatch);
    }

    at::Tensor addParameter(std::string name, at::Tensor values) {
        values.requires_grad_(true);
        m_names.push_back(std::move(name));
        m_parameters.push_back(values);
        return values;
    }
    at::Tensor drawn(const std::string& name, at::IntArrayRef shape,
                     double deviation = kInitialDeviation) {
        return drawnAs(name, name, shape, deviation);
    }
    // `source` names the stream of random values: the two copies of a tied matrix share one.
    at::Tensor drawnAs(const std::string& name, const std::string& source, at::IntArrayRef shape,
                       double deviation = kInitialDeviation) {
        auto generator = at::detail::createCPUGenerator(parameterSeed(m_config.seed, source));
        return addParameter(name, at::empty(shape).normal_(0, deviation, generator));
    }
    at::Tensor constant(const std::string& name, std::int64_t size, float value) {
        return addParameter(name, at::full({size}, value));
    }

    void makeParameters(std::int32_t firstLayer, std::int32_t endLayer) {
        const std::int64_t hidden = m_config.hidden;
        if (m_first) {
            m_tokenEmbedding = drawn("embedding.token", {kVocabulary, hidden});
            m_positionEmbedding = drawn("embedding.position", {m_config.sequence, hidden});
        }
        for (std::int32_t layer = firstLayer; layer < endLayer; ++layer) {
            m_blocks.push_back(makeBlock("layer." + std::to_string(layer) + "."));
        }
        if (m_last) {
            m_finalWeight = constant("final_norm.weight", hidden, 1);
            m_finalBias = constant("final_norm.bias", hidden, 0);
            if (!m_config.tiedHead) {
                m_head = drawn("head.weight", {kVocabulary, hidden});
            } else if (m_first) {
                m_head = m_tokenEmbedding;
            } else {
                m_head = drawnAs("head.weight", "embedding.token", {kVocabulary, hidden});
            }
        }
        if (m_config.tiedHead && m_first != m_last) {
            m_tied = m_first ? m_tokenEmbedding : m_head;
        }
    }

    Block makeBlock(const std::string& prefix) {
        const std::int64_t hidden = m_config.hidden;
        // The two matrices that write into the residual stream start smaller, by the depth they add
        // up over.
        const double residual = kInitialDeviation / std::sqrt(2.0 * m_config.layers);
        Block block;
        block.norm1Weight = constant(prefix + "norm1.weight", hidden, 1);
        block.norm1Bias = constant(prefix + "norm1.bias", hidden, 0);
        block.attentionWeight = drawn(prefix + "attention.weight", {3 * hidden, hidden});
        block.attentionBias = constant(prefix + "attention.bias", 3 * hidden, 0);
        block.projectionWeight = drawn(prefix + "projection.weight", {hidden, hidden}, residual);
        block.projectionBias = constant(prefix + "projection.bias", hidden, 0);
        block.norm2Weight = constant(prefix + "norm2.weight", hidden, 1);
        block.norm2Bias = constant(prefix + "norm2.bias", hidden, 0);
        block.expandWeight = drawn(prefix + "expand.weight", {4 * hidden, hidden});
        block.expandBias = constant(prefix + "expand.bias", 4 * hidden, 0);
        block.contractWeight = drawn(prefix + "contract.weight", {hidden, 4 * hidden}, residual);
        block.contractBias = constant(prefix + "contract.bias", hidden, 0);
        return block;
    }

    // Every parameter's gradient is a view into one flat bucket, so a stage's sync is one
    // all-reduce in place. The last stage's bucket has one value more: the loss.
    void bindGradients() {
        std::int64_t total = m_last ? 1 : 0;
        for (const at::Tensor& parameter : m_parameters) {
            total += parameter.numel();
        }
        m_bucket = at::zeros({total});
        std::int64_t offset = 0;
        for (at::Tensor& parameter : m_parameters) {
            parameter.mutable_grad() =
                m_bucket.narrow(0, offset, parameter.numel()).view_as(parameter);
            offset += parameter.numel();
        }
    }

    [[nodiscard]] at::Tensor embed(std::int32_t microbatch) const {
        const TokenBatch& batch = m_batches[static_cast<std::size_t>(microbatch)];
        const at::Tensor tokens =
            tokenTensor(batch.inputs, m_config.microbatchSize, m_config.sequence);
        return at::embedding(m_tokenEmbedding, tokens) + m_positionEmbedding;
    }

    [[nodiscard]] at::Tensor runBlock(const Block& block, const at::Tensor& input) const {
        const std::int64_t hidden = m_config.hidden;
        const at::Tensor normed =
            at::layer_norm(input, {hidden}, block.norm1Weight, block.norm1Bias);
        const at::Tensor middle =
            input +
            at::linear(attention(at::linear(normed, block.attentionWeight, block.attentionBias)),
                       block.projectionWeight, block.projectionBias);
        const at::Tensor normed2 =
            at::layer_norm(middle, {hidden}, block.norm2Weight, block.norm2Bias);
        const at::Tensor expanded =
            at::gelu(at::linear(normed2, block.expandWeight, block.expandBias));
        return middle + at::linear(expanded, block.contractWeight, block.contractBias);
    }

    // Causal attention on [batch, sequence, 3 * hidden] (queries, keys, values side by side) ->
    // [batch, sequence, hidden].
    [[nodiscard]] at::Tensor attention(const at::Tensor& joined) const {
        const std::int64_t batch = m_config.microbatchSize;
        const std::int64_t sequence = m_config.sequence;
        const std::int64_t heads = m_config.heads;
        const std::int64_t width = m_config.hidden / heads;
        // [3, batch, heads, sequence, width]
        const at::Tensor split =
            joined.view({batch, sequence, 3, heads, width}).permute({2, 0, 3, 1, 4});
        const at::Tensor scores =
            at::matmul(split[0], split[1].transpose(-2, -1)) / std::sqrt(double(width));
        const at::Tensor mixed = at::matmul(at::softmax(scores + m_mask, -1), split[2]);
        return mixed.transpose(1, 2).reshape({batch, sequence, m_config.hidden});
    }

    // The scaled loss whose backward is run; its value is added to the last place of the bucket.
    [[nodiscard]] at::Tensor loss(std::int32_t microbatch, const at::Tensor& hiddenStates) {
        const TokenBatch& batch = m_batches[static_cast<std::size_t>(microbatch)];
        const at::Tensor normed = at::layer_norm(hiddenStates, {std::int64_t(m_config.hidden)},
                                                 m_finalWeight, m_finalBias);
        const at::Tensor logits = at::linear(normed, m_head).view({-1, kVocabulary});
        const at::Tensor targets =
            tokenTensor(batch.targets, m_config.microbatchSize, m_config.sequence);
        at::Tensor scaled = at::cross_entropy_loss(logits, targets.view({-1})) * m_config.lossScale;
        m_bucket[-1] += scaled.detach();
        return scaled;
    }

    ModelConfig m_config;
    std::int32_t m_stage;
    bool m_first;
    bool m_last;
    std::vector<std::string> m_names;
    std::vector<at::Tensor> m_parameters;
    at::Tensor m_tokenEmbedding, m_positionEmbedding, m_finalWeight, m_finalBias, m_head;
    at::Tensor m_tied;  // the copy of a tied matrix whose gradient is shared with another stage
    std::vector<Block> m_blocks;
    at::Tensor m_bucket;
    at::Tensor m_mask;
    std::unique_ptr<torch::optim::Adam> m_optimizer;
    std::span<const TokenBatch> m_batches;
    std::map<std::int32_t, Kept> m_kept;
};

}  // namespace

void prepareTensorLibrary() {
    at::set_num_threads(1);
    at::set_num_interop_threads(1);
}

base::Result<std::unique_ptr<Stage>> makeGptStage(const ModelConfig& config, std::int32_t stage,
                                                  std::int32_t stages) {
    return guarded("stage " + std::to_string(stage), [&]() -> base::Result<std::unique_ptr<Stage>> {
        return std::unique_ptr<Stage>(std::make_unique<GptStage>(config, stage, stages));
    });
}

std::vector<NamedParameter> parametersOf(const Stage& stage) {
    return static_cast<const GptStage&>(stage).parameters();
}

}  // namespace pleat::runtime
