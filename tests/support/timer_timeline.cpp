#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/recorded_run.h"

namespace pleat::testing {
namespace {

using schedule::ActionKind;

constexpr int kLanesOfStage = 5;  // compute, pp-comm, tp-comm, dp-comm, misc

class Timeline {
  public:
    explicit Timeline(const SyntheticRun& run) : m_run(run) {}

    std::string text() && {
        nameLanes();
        for (const SyntheticTask& task : m_run.tasks) {
            const bool forward = task.action.kind == ActionKind::Forward;
            add(task.rank, 0, forward ? "forward-compute" : "backward-compute", task.span,
                task.iteration, task.chunk, task.action.microbatch);
        }
        for (const SyntheticPhase& phase : m_run.phases) {
            const char* const name = phase.optimizer ? "optimizer" : "params-all-gather";
            if (phase.optimizer || !phase.span.empty())
                add(phase.rank, phase.optimizer ? 4 : 3, name, phase.span, phase.iteration, -1, -1);
        }
        for (const SyntheticTransfer& transfer : m_run.transfers) {
            add(transfer.rank, laneOf(transfer), nameOf(transfer), transfer.span,
                transfer.iteration, -1, -1);
        }
        return "[" + m_events + "]";
    }

  private:
    static std::string_view nameOf(const SyntheticTransfer& transfer) {
        if (transfer.dimension == trace::Dimension::Other) return "optimizer-clip-main-grad";
        switch (transfer.action.kind) {
            case ActionKind::SendForward:
                return "forward-send";
            case ActionKind::ReceiveForward:
                return "forward-recv";
            case ActionKind::SendBackward:
                return "backward-send";
            case ActionKind::ReceiveBackward:
                return "backward-recv";
            default:
                return "grads-reduce-scatter";
        }
    }
    static int laneOf(const SyntheticTransfer& transfer) {
        if (transfer.peer >= 0) return 1;
        return transfer.dimension == trace::Dimension::Dp ? 3 : 4;
    }

    void nameLanes() {
        for (std::int32_t rank = 0; rank < m_run.ranks; ++rank) {
            const std::int32_t dp = rank / m_run.pipelineRanks, pp = rank % m_run.pipelineRanks;
            int lane = 0;
            for (const char* what : {"compute", "pp-comm", "tp-comm", "dp-comm", "misc"}) {
                put(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"PP rank {}, TP rank 0, {}"}}}})",
                    dp, pp * kLanesOfStage + lane++, pp, what);
            }
        }
    }

    void add(std::int32_t rank, int lane, std::string_view name, base::Interval span,
             std::int32_t step, std::int32_t chunk, std::int32_t microbatch) {
        const std::int32_t sequence = m_sequence[{rank, step, name}]++;
        put(R"({{"name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"ph":"X","args":{{"step":{},"model_chunk":{},"mb_id":{},"seq_id":{}}}}})",
            name, name, rank / m_run.pipelineRanks,
            rank % m_run.pipelineRanks * kLanesOfStage + lane,
            static_cast<double>(span.begin.ns) / 1e3, static_cast<double>(span.length().ns) / 1e3,
            step, chunk, microbatch, sequence);
    }

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        if (!m_events.empty()) m_events += ",\n";
        fmt::format_to(std::back_inserter(m_events), format, std::forward<Values>(values)...);
    }

    const SyntheticRun& m_run;
    std::string m_events;
    std::map<std::tuple<std::int32_t, std::int32_t, std::string_view>, std::int32_t> m_sequence;
};

}  // namespace

std::string timerTimeline(const SyntheticRun& run) { return Timeline(run).text(); }

}  // namespace pleat::testing
