#include "instrumented_runtime/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "base/say.h"
#include "instrumented_runtime/engine.h"
#include "instrumented_runtime/gloo_transport.h"
#include "instrumented_runtime/gpt_stage.h"
#include "instrumented_runtime/markers.h"

namespace pleat::runtime {
namespace {

// A run of one process has nobody to talk to and opens no port.
class NoTransport final : public Transport {
  public:
    [[nodiscard]] base::Result<std::unique_ptr<Channel>> join(const Group& group) override {
        return base::Error{base::ErrorCode::Io,
                           fmt::format("group {} in a run of one process", group.id)};
    }
    [[nodiscard]] base::Result<void> leave() override { return {}; }
};

class RankTrainer {
  public:
    RankTrainer(const TrainingPlan& plan, const RankEnvironment& environment)
        : m_plan(plan),
          m_environment(environment),
          m_at(plan.layout.coordinatesOf(environment.rank)) {
        const schedule::Placement& placement = plan.schedule.placement;
        const auto held = placement.stagesOf(m_at.pp);
        m_holdsFirst = held.front() == 0;
        m_holdsLast = held.back() == placement.stages() - 1;
    }

    [[nodiscard]] base::Result<void> run() {
        if (auto result = prepare(); !result) return result;
        const auto begin = std::chrono::steady_clock::now();
        for (std::int32_t step = 0; step < m_plan.options.steps; ++step) {
            if (auto result = runStep(step); !result) return result;
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (auto result = m_transport->leave(); !result) return result;
        if (reportsLoss()) {
            const std::string line =
                fmt::format("{} steps in {:.2f} s ({:.3f} s per step); loss {:.4f} -> {:.4f}\n",
                            m_plan.options.steps, took.count(), took.count() / m_plan.options.steps,
                            m_firstLoss, m_loss);
            std::fwrite(line.data(), 1, line.size(), stdout);
        }
        return {};
    }

    // After a failure: threads may be stuck, so nothing they use may be destroyed.
    void abandon() {
        (void)m_engine.release();
        (void)m_transport.release();
        (void)m_markers.release();
    }

  private:
    [[nodiscard]] std::uint64_t seed() const {
        return static_cast<std::uint64_t>(m_plan.options.seed);
    }
    [[nodiscard]] bool reportsLoss() const { return m_holdsLast && m_at.dp == 0; }

    [[nodiscard]] base::Result<void> prepare() {
        prepareTensorLibrary();
        m_markers = makeNvtxMarkers();
        m_markers->nameThread("compute");
        payload::RankPayload announced{
            m_environment.rank, m_environment.worldSize, m_at.dp, m_at.pp, 0, 0, 0, {}};
        std::strncpy(announced.device, m_plan.options.device.c_str(), sizeof(announced.device) - 1);
        m_markers->announceRank(announced);
        m_iterationName = m_markers->taskName(payload::kIteration);
        m_dataName = m_markers->taskName(payload::kDataLoading);
        m_optimizerName = m_markers->taskName(payload::kOptimizer);
        if (auto result = connect(); !result) return result;
        return openLossLog();
    }

    [[nodiscard]] base::Result<void> connect() {
        m_transport = std::make_unique<NoTransport>();
        if (m_environment.worldSize > 1) {
            auto connected = connectGloo(m_environment);
            if (!connected) return connected.error();
            m_transport = std::move(*connected);
        }
        const TrainOptions& options = m_plan.options;
        Engine::Setup setup{m_plan.schedule,
                            m_plan.layout,
                            m_environment.rank,
                            options.tiedHead,
                            {options.linkBandwidth, options.linkLatencyNs},
                            {}};
        const ModelConfig model{options.layers,
                                options.hidden,
                                options.heads,
                                options.sequence,
                                options.microbatchSize,
                                options.tiedHead,
                                seed(),
                                options.learningRate,
                                1.0 / (double{1} * options.dp * options.microbatches.value())};
        for (const std::int32_t stage : m_plan.schedule.placement.stagesOf(m_at.pp)) {
            auto made = makeGptStage(model, stage, m_plan.schedule.placement.stages());
            if (!made) return made.error();
            setup.stages.push_back(std::move(*made));
        }
        auto engine = Engine::create(std::move(setup), *m_transport, *m_markers);
        if (!engine) return engine.error();
        m_engine = std::move(*engine);
        return {};
    }

    [[nodiscard]] base::Result<void> openLossLog() {
        if (!reportsLoss() || m_plan.options.lossLog.empty()) return {};
        m_lossLog.open(m_plan.options.lossLog);
        m_lossLog << "step,loss\n" << std::flush;
        return checkLossLog();
    }
    [[nodiscard]] base::Result<void> checkLossLog() const {
        if (m_lossLog) return {};
        return base::Error{base::ErrorCode::Input,
                           fmt::format("--loss-log {}: cannot be written", m_plan.options.lossLog)};
    }

    [[nodiscard]] base::Result<void> runStep(std::int32_t step) {
        m_markers->pushPhase(m_iterationName, {step});
        m_markers->pushPhase(m_dataName, {step});
        loadBatches(step);
        for (const auto& stage : m_engine->stages()) stage->beginIteration(m_batches);
        m_markers->popTask();
        if (auto result = m_engine->run(step); !result) return result;
        m_markers->pushPhase(m_optimizerName, {step});
        for (const auto& stage : m_engine->stages()) {
            if (auto result = stage->step(); !result) return result;
        }
        m_markers->popTask();
        m_markers->popTask();
        return reportLoss(step);
    }

    // Only the first stage reads inputs and only the last targets.
    void loadBatches(std::int32_t step) {
        const TrainOptions& options = m_plan.options;
        const std::int32_t microbatches = m_plan.schedule.microbatches;
        m_batches.resize(static_cast<std::size_t>(microbatches));
        for (std::int32_t microbatch = 0;
             microbatch < microbatches && (m_holdsFirst || m_holdsLast); ++microbatch) {
            const std::int64_t first =
                (std::int64_t{m_at.dp} * microbatches + microbatch) * options.microbatchSize;
            m_batches[static_cast<std::size_t>(microbatch)] =
                m_plan.corpus.batch(seed(), step, first, options.microbatchSize);
        }
    }

    [[nodiscard]] base::Result<void> reportLoss(std::int32_t step) {
        if (!reportsLoss()) return {};
        m_loss = m_engine->stages().back()->gradients().values().back();
        if (step == 0) m_firstLoss = m_loss;
        if (m_lossLog.is_open())
            m_lossLog << fmt::format("{},{:.9g}\n", step, m_loss) << std::flush;
        const std::int32_t every = std::max(1, m_plan.options.steps / 10);
        if (step % every == 0) base::say(fmt::format("step {} loss {:.4f}", step, m_loss));
        return checkLossLog();
    }

    const TrainingPlan& m_plan;
    const RankEnvironment& m_environment;
    Coordinates m_at;
    bool m_holdsFirst = false;
    bool m_holdsLast = false;
    MarkerName m_iterationName = nullptr, m_dataName = nullptr, m_optimizerName = nullptr;
    std::vector<TokenBatch> m_batches;
    std::ofstream m_lossLog;
    float m_firstLoss = 0, m_loss = 0;
    std::unique_ptr<Markers> m_markers;
    std::unique_ptr<Transport> m_transport;
    std::unique_ptr<Engine> m_engine;  // last: uses all of the above
};

}  // namespace

base::Result<void> trainRank(const TrainingPlan& plan, const RankEnvironment& environment) {
    if (environment.worldSize != plan.layout.worldSize()) {
        return base::Error{
            base::ErrorCode::Usage,
            fmt::format("--dp {} x --pp {} is {} ranks, but {} were started (WORLD_SIZE)",
                        plan.options.dp, plan.options.pp, plan.layout.worldSize(),
                        environment.worldSize)};
    }
    auto trainer = std::make_unique<RankTrainer>(plan, environment);
    auto result = trainer->run();
    if (!result) {
        trainer->abandon();
    }
    return result;
}

}  // namespace pleat::runtime
