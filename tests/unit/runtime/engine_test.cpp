// The engine on a model small enough to work out by hand: stage s multiplies by its weight, so for
// an input x the loss is x * (product of all weights), and the gradient of weight s is x * (product
// of the others). All values are small integers, exact in fp32.
#include "instrumented_runtime/engine.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <set>
#include <thread>

#include "memory_transport.h"
#include "recording_markers.h"
#include "schedule/generators.h"
#include "schedule/lower.h"
#include "schedule/schedule_csv.h"

namespace pleat::runtime {
namespace {

class ProductStage final : public Stage {
  public:
    ProductStage(std::int32_t stage, std::int32_t stages, float tiedShare)
        : m_stage(stage),
          m_last(stage == stages - 1),
          m_tied(tiedShare > 0 && (stage == 0 || m_last)),
          m_gradients(makeBuffer(2)) {}

    static float weight(std::int32_t stage) { return static_cast<float>(stage + 2); }

    [[nodiscard]] std::size_t messageSize() const override { return 1; }
    void beginIteration(std::span<const TokenBatch> batches) override {
        m_batches = batches;
        m_gradients.data[0] = m_gradients.data[1] = 0;
    }
    [[nodiscard]] base::Result<Buffer> forward(std::int32_t microbatch,
                                               const Buffer& input) override {
        const float entry = m_stage == 0 ? m_batches[static_cast<std::size_t>(microbatch)].inputs[0]
                                         : input.data[0];
        m_kept[microbatch] = entry;
        mostKept = std::max(mostKept, m_kept.size());
        Buffer output = makeBuffer(1);
        output.data[0] = entry * weight(m_stage);
        if (m_last) m_gradients.data[1] += output.data[0];
        return m_last ? Buffer{} : output;
    }
    [[nodiscard]] base::Result<Buffer> backward(std::int32_t microbatch,
                                                const Buffer& outputGradient) override {
        const float gradient = m_last ? 1 : outputGradient.data[0];
        m_gradients.data[0] += m_kept.extract(microbatch).mapped() * gradient;
        Buffer result = makeBuffer(1);
        result.data[0] = gradient * weight(m_stage);
        return m_stage == 0 ? Buffer{} : result;
    }
    [[nodiscard]] Buffer gradients() override { return m_gradients; }
    [[nodiscard]] Buffer tiedGradient() override {
        return m_tied ? Buffer{m_gradients.owner, m_gradients.data, 1} : Buffer{};
    }
    [[nodiscard]] base::Result<void> step() override { return {}; }

    std::size_t mostKept = 0;

  private:
    std::int32_t m_stage;
    bool m_last;
    bool m_tied;
    Buffer m_gradients;  // of the weight; the loss
    std::span<const TokenBatch> m_batches;
    std::map<std::int32_t, float> m_kept;
};

struct RunOutcome {
    std::int32_t dp = 1, pp = 1;
    bool tied = false;
    std::map<std::int32_t, float> gradients;  // by stage, of the last iteration, replica 0
    float loss = 0;
    std::vector<std::unique_ptr<RecordingMarkers>> markers;  // by rank
};

float input(std::int32_t dp, std::int32_t microbatches, std::int32_t microbatch,
            std::int32_t iteration) {
    return static_cast<float>(dp * microbatches + microbatch + 1 + iteration);
}

schedule::Schedule lowered(const schedule::Schedule& schedule) {
    auto result = schedule::lower(schedule);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return *result;
}

// Runs every rank on a thread of its own for `iterations`.
void runAll(RunOutcome& run, const schedule::Schedule& schedule, std::int32_t iterations) {
    MemoryHub hub;
    std::mutex resultMutex;
    const Layout layout(run.dp, run.pp);
    for (std::int32_t rank = 0; rank < layout.worldSize(); ++rank) {
        run.markers.push_back(std::make_unique<RecordingMarkers>());
    }
    std::vector<std::jthread> ranks;
    for (std::int32_t rank = 0; rank < layout.worldSize(); ++rank) {
        ranks.emplace_back([&, rank] {
            const Coordinates at = layout.coordinatesOf(rank);
            MemoryTransport transport(hub);
            Engine::Setup setup{schedule, layout, rank, run.tied, {}, {}};
            for (const std::int32_t stage : schedule.placement.stagesOf(at.pp)) {
                setup.stages.push_back(std::make_unique<ProductStage>(
                    stage, schedule.placement.stages(), run.tied ? 1.0F : 0.0F));
            }
            auto engine = Engine::create(std::move(setup), transport,
                                         *run.markers[static_cast<std::size_t>(rank)]);
            ASSERT_TRUE(engine) << engine.error().message;
            for (std::int32_t iteration = 0; iteration < iterations; ++iteration) {
                std::vector<TokenBatch> batches;
                for (std::int32_t m = 0; m < schedule.microbatches; ++m) {
                    const float value = input(at.dp, schedule.microbatches, m, iteration);
                    batches.push_back({{static_cast<std::uint8_t>(value)}, {}});
                }
                for (const auto& stage : (*engine)->stages()) stage->beginIteration(batches);
                const auto result = (*engine)->run(iteration);
                ASSERT_TRUE(result) << result.error().message;
            }
            const std::lock_guard lock(resultMutex);
            const auto held = schedule.placement.stagesOf(at.pp);
            for (std::size_t chunk = 0; chunk < held.size() && at.dp == 0; ++chunk) {
                const Buffer gradients = (*engine)->stages()[chunk]->gradients();
                run.gradients[held[chunk]] = gradients.data[0];
                if (held[chunk] == schedule.placement.stages() - 1) run.loss = gradients.data[1];
            }
        });
    }
}

// What the gradients must be after `iterations`.
void expectGradients(const RunOutcome& run, const schedule::Schedule& schedule,
                     std::int32_t iterations) {
    float inputs = 0;
    for (std::int32_t dp = 0; dp < run.dp; ++dp) {
        for (std::int32_t m = 0; m < schedule.microbatches; ++m) {
            inputs += input(dp, schedule.microbatches, m, iterations - 1);
        }
    }
    const std::int32_t stages = schedule.placement.stages();
    float product = 1;
    for (std::int32_t stage = 0; stage < stages; ++stage) product *= ProductStage::weight(stage);
    EXPECT_EQ(run.loss, inputs * product);
    ASSERT_EQ(run.gradients.size(), static_cast<std::size_t>(stages));
    const float first = inputs * product / ProductStage::weight(0);
    const float last = inputs * product / ProductStage::weight(stages - 1);
    for (const auto& [stage, gradient] : run.gradients) {
        const bool shared = run.tied && stages > 1 && (stage == 0 || stage == stages - 1);
        EXPECT_EQ(gradient, shared ? first + last : inputs * product / ProductStage::weight(stage))
            << "stage " << stage;
    }
}

// n-th transfers of a group must be the same transfer on all members, and every range must be
// closed.
void expectConsistentMarkers(const RunOutcome& run) {
    std::map<std::pair<std::int32_t, std::int64_t>, std::set<std::pair<std::int64_t, std::int32_t>>>
        seen;
    std::map<std::pair<std::int32_t, std::int64_t>, int> members;
    for (const auto& markers : run.markers) {
        EXPECT_EQ(markers->open(), 0);
        for (const RecordedTransfer& transfer : markers->transfers()) {
            const std::pair key(transfer.transfer.group, transfer.transfer.sequence);
            seen[key].insert({transfer.transfer.bytes, transfer.transfer.microbatch});
            ++members[key];
        }
    }
    for (const auto& [key, variants] : seen) {
        EXPECT_EQ(variants.size(), 1U) << "group " << key.first << ", transfer " << key.second;
        EXPECT_GE(members[key], 2) << "group " << key.first << ", transfer " << key.second;
    }
}

struct Case {
    const char* name;
    std::int32_t dp, pp, chunks;
    bool tied;
};
// ctest shows it; without it the bytes of the struct, addresses included.
void PrintTo(const Case& c, std::ostream* stream) {
    *stream << c.name << " " << c.dp << "x" << c.pp;
}

class EngineTest : public ::testing::TestWithParam<Case> {};

TEST_P(EngineTest, GivesTheGradientsOfTheWholeBatch) {
    const Case& c = GetParam();
    const auto made = schedule::makeSchedule(c.name, {c.pp, 4, c.chunks, 0});
    ASSERT_TRUE(made) << made.error().message;
    const schedule::Schedule schedule = lowered(*made);
    RunOutcome run{c.dp, c.pp, c.tied, {}, 0, {}};
    runAll(run, schedule, 2);
    expectGradients(run, schedule, 2);
    expectConsistentMarkers(run);
    for (const auto& markers : run.markers) {
        EXPECT_EQ(markers->tasks().size(), static_cast<std::size_t>(2 * 2 * 4 * c.chunks));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, EngineTest,
    ::testing::Values(Case{"gpipe", 1, 1, 1, false}, Case{"gpipe", 1, 4, 1, false},
                      Case{"gpipe", 2, 2, 1, true}, Case{"1f1b", 1, 2, 1, true},
                      Case{"1f1b", 3, 4, 1, false}, Case{"interleaved", 1, 2, 2, true},
                      Case{"interleaved", 2, 4, 2, false}, Case{"folded", 1, 1, 3, true},
                      Case{"folded", 1, 2, 2, false}, Case{"folded", 2, 2, 2, true},
                      Case{"folded", 1, 4, 3, false}),
    [](const auto& tested) {
        const Case& c = tested.param;
        return std::string(c.name) + "_dp" + std::to_string(c.dp) + "_pp" + std::to_string(c.pp) +
               "_chunks" + std::to_string(c.chunks) + (c.tied ? "_tied" : "");
    });

TEST(Engine, RunsAScheduleFromAFileWithoutSyncs) {
    // Rank 0 holds stages 0 and 3 (a V), so the middle hop 1 -> 2 is local to rank 1. No
    // REDUCE_GRAD in the file.
    const auto read = schedule::readCsv(
        "0F0,0F1,3F0,3B0,3F1,3B1,0B0,0B1\n1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n", "v.csv");
    ASSERT_TRUE(read) << read.error().message;
    const schedule::Schedule schedule = lowered(read->schedule);
    RunOutcome run{2, 2, true, {}, 0, {}};
    runAll(run, schedule, 1);
    expectGradients(run, schedule, 1);
    expectConsistentMarkers(run);
}

TEST(Engine, StartsAChunksSyncBeforeTheNextChunksBackward) {
    const schedule::Schedule schedule = lowered(*schedule::makeSchedule("folded", {1, 2, 2, 0}));
    RunOutcome run{2, 1, false, {}, 0, {}};
    runAll(run, schedule, 1);
    std::vector<std::string> syncs;
    for (const RecordedTransfer& transfer : run.markers[0]->transfers()) {
        syncs.push_back(transfer.name);
        EXPECT_STREQ(transfer.transfer.operation, "all_reduce");
        EXPECT_STREQ(transfer.transfer.dimension, "dp");
        EXPECT_EQ(transfer.transfer.peer, -1);
    }
    EXPECT_EQ(syncs, (std::vector<std::string>{"1REDUCE_GRAD", "0REDUCE_GRAD"}));
}

TEST(Engine, NamesTheTwoEndsOfALink) {
    const schedule::Schedule schedule = lowered(*schedule::makeSchedule("gpipe", {2, 1, 1, 0}));
    RunOutcome run{1, 2, false, {}, 0, {}};
    runAll(run, schedule, 1);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        std::map<std::string, payload::TransferPayload> byName;
        for (const auto& transfer : run.markers[static_cast<std::size_t>(rank)]->transfers()) {
            byName[transfer.name] = transfer.transfer;
            EXPECT_EQ(transfer.transfer.peer, 1 - rank);
        }
        ASSERT_EQ(byName.size(), 2U);
        EXPECT_STREQ(byName.at(rank == 0 ? "0SEND_F0" : "1RECV_F0").operation,
                     rank == 0 ? "send" : "recv");
        EXPECT_STREQ(byName.at(rank == 0 ? "0RECV_B0" : "1SEND_B0").dimension, "pp");
    }
}

TEST(Engine, ALostPeerEndsTheIterationWithAnError) {
    const schedule::Schedule schedule = lowered(*schedule::makeSchedule("gpipe", {2, 2, 1, 0}));
    MemoryHub hub;
    RecordingMarkers markers;
    MemoryTransport transport(hub,
                              1);  // rank 1 never starts; the first send works, the second does not
    Engine::Setup setup{schedule, Layout(1, 2), 0, false, {}, {}};
    setup.stages.push_back(std::make_unique<ProductStage>(0, 2, 0.0F));
    auto engine = Engine::create(std::move(setup), transport, markers);
    ASSERT_TRUE(engine);
    // The receive of rank 1's gradient would wait for ever: give it one, so that only the link
    // forward is broken.
    for (const Group& group : Layout(1, 2).groups(schedule.placement, false)) {
        if (group.kind == GroupKind::BackwardLink) hub.group(group)->put(makeBuffer(1));
    }
    const std::vector<TokenBatch> batches(2, TokenBatch{{1}, {}});
    (*engine)->stages()[0]->beginIteration(batches);
    const auto result = (*engine)->run(0);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the peer is gone");
}

TEST(Engine, FreesAnActivationWhenItsBackwardIsDone) {
    // 1F1B on one rank runs F0 B0 F1 B1 …: never more than one microbatch is kept.
    const schedule::Schedule schedule = lowered(*schedule::makeSchedule("1f1b", {1, 6, 1, 0}));
    MemoryHub hub;
    RecordingMarkers markers;
    MemoryTransport transport(hub);
    auto stage = std::make_unique<ProductStage>(0, 1, 0.0F);
    const ProductStage& watched = *stage;
    Engine::Setup setup{schedule, Layout(1, 1), 0, false, {}, {}};
    setup.stages.push_back(std::move(stage));
    auto engine = Engine::create(std::move(setup), transport, markers);
    ASSERT_TRUE(engine);
    const std::vector<TokenBatch> batches(6, TokenBatch{{1}, {}});
    (*engine)->stages()[0]->beginIteration(batches);
    ASSERT_TRUE((*engine)->run(0));
    EXPECT_EQ(watched.mostKept, 1U);
}

TEST(Engine, RefusesSplitBackwardsInOneLine) {
    const auto read = schedule::readCsv("0F0,0I0,0W0\n", "split.csv");
    ASSERT_TRUE(read) << read.error().message;
    const auto runnable = checkRunnable(read->schedule);
    ASSERT_FALSE(runnable);
    EXPECT_NE(runnable.error().message.find("split.csv holds 0I0"), std::string::npos)
        << runnable.error().message;
    EXPECT_EQ(runnable.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace pleat::runtime
