#include "instrumented_runtime/corpus.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pleat::runtime {
namespace {

TEST(Corpus, TargetsAreTheInputsMovedByOne) {
    const auto corpus = Corpus::load("", 16);
    ASSERT_TRUE(corpus);
    const TokenBatch batch = corpus->batch(1, 0, 0, 3);
    ASSERT_EQ(batch.inputs.size(), 48U);
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t i = 0; i + 1 < 16; ++i) {
            EXPECT_EQ(batch.targets[row * 16 + i], batch.inputs[row * 16 + i + 1]);
        }
    }
}

TEST(Corpus, AnySplitOfTheGlobalBatchSeesTheSameSamples) {
    const auto corpus = Corpus::load("", 8);
    ASSERT_TRUE(corpus);
    const TokenBatch whole = corpus->batch(7, 3, 0, 12);
    for (const std::int32_t part : {1, 2, 3, 4, 6}) {
        TokenBatch joined;
        for (std::int32_t first = 0; first < 12; first += part) {
            const TokenBatch batch = corpus->batch(7, 3, first, part);
            joined.inputs.insert(joined.inputs.end(), batch.inputs.begin(), batch.inputs.end());
            joined.targets.insert(joined.targets.end(), batch.targets.begin(), batch.targets.end());
        }
        EXPECT_EQ(joined.inputs, whole.inputs);
        EXPECT_EQ(joined.targets, whole.targets);
    }
}

TEST(Corpus, SeedStepAndSampleAllMatter) {
    const auto corpus = Corpus::load("", 32);
    ASSERT_TRUE(corpus);
    std::set<std::string> distinct;
    for (const std::uint64_t seed : {1, 2}) {
        for (const std::int32_t step : {0, 1}) {
            for (const std::int64_t sample : {0, 1}) {
                const TokenBatch drawn = corpus->batch(seed, step, sample, 1);
                distinct.emplace(drawn.inputs.begin(), drawn.inputs.end());
            }
        }
    }
    EXPECT_EQ(distinct.size(), 8U);
}

}  // namespace
}  // namespace pleat::runtime
