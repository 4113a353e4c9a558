#include "instrumented_runtime/gpt_stage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace pleat::runtime {
namespace {

ModelConfig small() {
    ModelConfig config;
    config.layers = 4;
    config.hidden = 16;
    config.heads = 2;
    config.sequence = 8;
    config.microbatchSize = 2;
    return config;
}

std::unique_ptr<Stage> make(const ModelConfig& config, std::int32_t stage, std::int32_t stages) {
    auto made = makeGptStage(config, stage, stages);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
}

std::map<std::string, std::vector<float>> allParameters(const ModelConfig& config,
                                                        std::int32_t stages) {
    std::map<std::string, std::vector<float>> parameters;
    for (std::int32_t stage = 0; stage < stages; ++stage) {
        for (NamedParameter& parameter : parametersOf(*make(config, stage, stages))) {
            EXPECT_TRUE(parameters.emplace(parameter.name, std::move(parameter.values)).second)
                << parameter.name;
        }
    }
    return parameters;
}

TokenBatch batch() {
    TokenBatch made;
    for (int i = 0; i < 16; ++i) {
        made.inputs.push_back(static_cast<std::uint8_t>('a' + i));
        made.targets.push_back(static_cast<std::uint8_t>('b' + i));
    }
    return made;
}

TEST(GptStage, ParametersDoNotDependOnTheCut) {
    const auto whole = allParameters(small(), 1);
    EXPECT_EQ(whole.size(), 2U + 4 * 12 + 3);
    EXPECT_EQ(whole, allParameters(small(), 2));
    EXPECT_EQ(whole, allParameters(small(), 4));
}

TEST(GptStage, ParametersDependOnSeedAndLayer) {
    ModelConfig other = small();
    other.seed = 2;
    const auto first = allParameters(small(), 1), second = allParameters(other, 1);
    EXPECT_NE(first.at("layer.0.expand.weight"), second.at("layer.0.expand.weight"));
    EXPECT_NE(first.at("layer.0.expand.weight"), first.at("layer.1.expand.weight"));
}

TEST(GptStage, TheCopiesOfATiedHeadStartEqual) {
    ModelConfig tied = small();
    tied.tiedHead = true;
    EXPECT_FALSE(allParameters(tied, 1).contains("head.weight")) << "one stage holds one matrix";
    const auto cut = allParameters(tied, 2);
    EXPECT_EQ(cut.at("head.weight"), cut.at("embedding.token"));
    EXPECT_EQ(make(tied, 0, 2)->tiedGradient().size, 256U * 16);
    EXPECT_EQ(make(tied, 1, 2)->tiedGradient().size, 256U * 16);
    EXPECT_TRUE(make(tied, 0, 1)->tiedGradient().empty());
    EXPECT_TRUE(make(small(), 0, 2)->tiedGradient().empty());
}

// The bucket holds the sum over microbatches, and its last value the loss: of an untrained model
// about that of a guess.
TEST(GptStage, GradientsAndLossAddUpOverMicrobatches) {
    const auto stage = make(small(), 0, 1);
    const std::vector<TokenBatch> batches(2, batch());
    stage->beginIteration(batches);
    ASSERT_TRUE(stage->forward(0, {}));
    ASSERT_TRUE(stage->backward(0, {}));
    const Buffer bucket = stage->gradients();
    const std::vector<float> once(bucket.data, bucket.data + bucket.size);
    EXPECT_NEAR(once.back(), std::log(256.0), 0.1);
    ASSERT_TRUE(stage->forward(1, {}));
    ASSERT_TRUE(stage->backward(1, {}));
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(bucket.data[i], 2 * once[i], 1e-5);
    stage->beginIteration(batches);
    EXPECT_EQ(bucket.data[0], 0);
}

// A gradient entry against the difference quotient of the loss would need fp64; the cut model
// against the whole one is as sharp and exact.
TEST(GptStage, ACutModelHasTheGradientsOfTheWhole) {
    const std::vector<TokenBatch> batches(1, batch());
    const auto whole = make(small(), 0, 1), head = make(small(), 0, 2), tail = make(small(), 1, 2);
    for (const auto& stage : {&whole, &head, &tail}) (*stage)->beginIteration(batches);
    ASSERT_TRUE(whole->forward(0, {}));
    ASSERT_TRUE(whole->backward(0, {}));
    const auto activations = head->forward(0, {});
    ASSERT_TRUE(activations);
    EXPECT_EQ(activations->size, head->messageSize());
    ASSERT_TRUE(tail->forward(0, *activations));
    const auto gradient = tail->backward(0, {});
    ASSERT_TRUE(gradient);
    ASSERT_TRUE(head->backward(0, *gradient));
    const Buffer all = whole->gradients(), first = head->gradients(), second = tail->gradients();
    ASSERT_EQ(all.size, first.size + second.size);
    for (std::size_t i = 0; i < all.size; ++i) {
        EXPECT_EQ(all.data[i], i < first.size ? first.data[i] : second.data[i - first.size]);
    }
}

TEST(GptStage, AttentionIsCausal) {
    // Changing the last byte changes nothing before it.
    const auto stage = make(small(), 0, 2);
    std::vector<TokenBatch> batches(2, batch());
    batches[1].inputs[7] = 'z';
    stage->beginIteration(batches);
    const auto one = stage->forward(0, {}), other = stage->forward(1, {});
    ASSERT_TRUE(one && other);
    for (std::size_t i = 0; i < 7 * 16; ++i) EXPECT_EQ(one->data[i], other->data[i]);
    EXPECT_NE(one->data[7 * 16], other->data[7 * 16]);
}

TEST(GptStage, StepsLowerTheLoss) {
    const auto stage = make(small(), 0, 1);
    const std::vector<TokenBatch> batches(1, batch());
    float first = 0, last = 0;
    for (int step = 0; step < 10; ++step) {
        stage->beginIteration(batches);
        ASSERT_TRUE(stage->forward(0, {}));
        ASSERT_TRUE(stage->backward(0, {}));
        last = stage->gradients().values().back();
        if (step == 0) first = last;
        ASSERT_TRUE(stage->step());
    }
    EXPECT_LT(last, first - 0.1F);
}

}  // namespace
}  // namespace pleat::runtime
