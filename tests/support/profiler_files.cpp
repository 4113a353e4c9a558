#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "support/recorded_run.h"

namespace pleat::testing {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using schedule::ActionKind;

constexpr Duration kCall{2'000};          // of one call, and between two
constexpr Duration kHostWork{50'000};     // of a step beside its calls
constexpr Duration kOrigin{200'000'000};  // what is at 0 in the run; hosts begin before
constexpr std::int64_t kComputeStream = 7, kFirstStream = 20, kCopyStream = 99;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

struct Kernel {
    std::string name, arguments;
    std::int64_t stream = kComputeStream;
    Interval span;
};

// What the host calls as one: a task's kernels within an annotation, or one kernel alone.
struct Called {
    std::string annotation;
    std::vector<Kernel> kernels;
    [[nodiscard]] TraceTime begin() const { return kernels.front().span.begin; }
};

class Groups {
  public:
    explicit Groups(const SyntheticRun& run) : m_run(run) {}

    [[nodiscard]] std::string argumentsOf(const SyntheticTransfer& transfer) const {
        std::vector<std::int32_t> members;
        for (std::int32_t rank = 0; rank < m_run.ranks; ++rank) {
            if (isMember(transfer, rank)) members.push_back(rank);
        }
        std::string peer;
        if (transfer.peer >= 0) {
            const auto place = std::find(members.begin(), members.end(), transfer.peer);
            peer = fmt::format(R"(,"{}":{})", isSend(transfer) ? "Dst Rank" : "Src Rank",
                               place - members.begin());
        }
        // Layers differ in size, so what follows each other does.
        const std::int64_t elements =
            (1 + transfer.sequence % 7) * 65'536 * (transfer.peer >= 0 ? 2 : 1);
        return fmt::format(
            R"(,"Collective name":"{}","In msg nelems":{},"Out msg nelems":{},"Group size":{},"dtype":"BFloat16","Process Group Name":"{}","Process Group Description":"{}","Process Group Ranks":"[{}]"{})",
            nameOf(transfer), transfer.peer >= 0 ? 131'072 : elements,
            transfer.peer >= 0 ? 131'072 : elements, members.size(), nameOfGroup(transfer, members),
            describe(transfer), fmt::join(members, ", "), peer);
    }

  private:
    static bool isSend(const SyntheticTransfer& transfer) {
        return transfer.action.kind == ActionKind::SendForward ||
               transfer.action.kind == ActionKind::SendBackward;
    }
    static const char* nameOf(const SyntheticTransfer& transfer) {
        if (transfer.peer < 0) return "allreduce";
        return isSend(transfer) ? "send" : "recv";
    }
    static const char* describe(const SyntheticTransfer& transfer) {
        switch (transfer.dimension) {
            case trace::Dimension::Tp:
                return "TENSOR_MODEL_PARALLEL_GROUP";
            case trace::Dimension::Dp:
                return "DATA_PARALLEL_GROUP";
            case trace::Dimension::Pp:
                return "PIPELINE_MODEL_PARALLEL_GROUP";
            default:
                return "default_pg";
        }
    }
    static std::string nameOfGroup(const SyntheticTransfer& transfer,
                                   const std::vector<std::int32_t>& members) {
        return fmt::format("{}{}", trace::toString(transfer.dimension), members.front());
    }
    [[nodiscard]] bool isMember(const SyntheticTransfer& transfer, std::int32_t rank) const {
        const auto place = [&](std::int32_t of) {
            const std::int32_t tp = of % m_run.tensorRanks, rest = of / m_run.tensorRanks;
            return std::array{rest / m_run.pipelineRanks, rest % m_run.pipelineRanks, tp};
        };
        const auto mine = place(transfer.rank), other = place(rank);
        switch (transfer.dimension) {
            case trace::Dimension::Tp:
                return mine[0] == other[0] && mine[1] == other[1];
            case trace::Dimension::Dp:
                return mine[1] == other[1] && mine[2] == other[2];
            case trace::Dimension::Pp:
                return mine[0] == other[0] && mine[2] == other[2];
            default:
                return true;
        }
    }

    const SyntheticRun& m_run;
};

// All that one rank's host calls in an iteration, in order.
using Calls = std::vector<Called>;

Kernel kernelOf(const Groups& groups, const SyntheticTransfer& transfer) {
    const std::int64_t stream = transfer.lane == 0 ? kComputeStream : kFirstStream + transfer.lane;
    return {transfer.peer < 0
                ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                : "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
            groups.argumentsOf(transfer), stream, transfer.span};
}

void sortByBegin(std::vector<Kernel>& kernels) {
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const Kernel& a, const Kernel& b) { return a.span.begin < b.span.begin; });
}

// [rank][iteration]
std::vector<std::vector<Calls>> callsOf(const SyntheticRun& run) {
    const Groups groups(run);
    std::vector<std::vector<Calls>> calls(at(run.ranks), std::vector<Calls>(run.iterations.size()));
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const SyntheticTransfer*>> open;
    for (const SyntheticTransfer& transfer : run.transfers)
        open[{transfer.rank, transfer.iteration}].push_back(&transfer);
    for (const SyntheticTask& task : run.tasks) {
        Called called{"PP:" + toString(task.action), {}};
        for (const Interval& piece : task.work)
            called.kernels.push_back({"gemm", "", kComputeStream, piece});
        // Collectives between the task's pieces are called within it.
        auto& transfers = open[{task.rank, task.iteration}];
        std::erase_if(transfers, [&](const SyntheticTransfer* transfer) {
            const bool within = transfer->peer < 0 && task.work.size() > 1 &&
                                transfer->span.begin >= task.span.begin &&
                                transfer->span.end <= task.span.end;
            if (within) called.kernels.push_back(kernelOf(groups, *transfer));
            return within;
        });
        sortByBegin(called.kernels);
        calls[at(task.rank)][at(task.iteration)].push_back(std::move(called));
    }
    for (const auto& [key, transfers] : open) {
        for (const SyntheticTransfer* transfer : transfers)
            calls[at(key.first)][at(key.second)].push_back({"", {kernelOf(groups, *transfer)}});
    }
    for (const SyntheticPhase& phase : run.phases) {
        if (phase.optimizer)
            calls[at(phase.rank)][at(phase.iteration)].push_back(
                {"", {{"adam", "", kComputeStream, phase.span}}});
    }
    for (auto& ofRank : calls) {
        for (Calls& ofIteration : ofRank)
            std::stable_sort(
                ofIteration.begin(), ofIteration.end(),
                [](const Called& a, const Called& b) { return a.begin() < b.begin(); });
    }
    return calls;
}

// How long the host is busy with them.
Duration timeFor(const Calls& calls) {
    std::int64_t kernels = 0;
    for (const Called& called : calls) kernels += static_cast<std::int64_t>(called.kernels.size());
    return {2 * kCall.ns * (kernels + static_cast<std::int64_t>(calls.size()) + 2)};
}

class RankFile {
  public:
    RankFile(std::int32_t rank, std::int32_t ranks) : m_rank(rank), m_ranks(ranks) {}

    void addStep(std::size_t number, const HostStep& step, const Calls& calls) {
        annotate(fmt::format("ProfilerStep#{}", number), step.span);
        TraceTime host = step.span.begin + kCall;
        bool copied = !step.copy;
        if (!step.copyInTask) copyOnce(step, host, copied);
        for (const Called& called : calls) {
            const TraceTime begin = host;
            host = host + kCall;
            if (!called.annotation.empty()) copyOnce(step, host, copied);
            for (const Kernel& kernel : called.kernels) {
                call("cudaLaunchKernel", host);
                work("kernel", kernel.name, kernel.arguments, kernel.stream, kernel.span);
                host = host + kCall + kCall;
            }
            if (!called.annotation.empty()) annotate(called.annotation, {begin, host});
            host = host + kCall;
        }
    }

    [[nodiscard]] std::string text() const {
        return fmt::format(
                   R"({{"distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},"traceEvents":[)",
                   m_rank, m_ranks) +
               m_events + "]}";
    }

  private:
    void copyOnce(const HostStep& step, TraceTime& host, bool& copied) {
        if (copied) return;
        copied = true;
        call("cudaMemcpyAsync", host);
        work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", R"(,"bytes":1000)", kCopyStream,
             *step.copy);
        host = host + kCall + kCall;
    }
    void annotate(std::string_view name, Interval span) {
        put(R"({{"ph":"X","cat":"user_annotation","name":"{}","pid":{},"tid":1,"ts":{:.3f},"dur":{:.3f}}})",
            name, 100 + m_rank, microseconds(span.begin - TraceTime{} + kOrigin),
            microseconds(span.length()));
    }
    void call(std::string_view name, TraceTime begin) {
        put(R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":{},"tid":1,"ts":{:.3f},"dur":{:.3f},"args":{{"correlation":{}}}}})",
            name, 100 + m_rank, microseconds(begin - TraceTime{} + kOrigin), microseconds(kCall),
            ++m_correlation);
    }
    void work(std::string_view category, std::string_view name, std::string_view arguments,
              std::int64_t stream, Interval span) {
        put(R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"device":0,"stream":{},"correlation":{}{}}}}})",
            category, name, stream, microseconds(span.begin - TraceTime{} + kOrigin),
            microseconds(span.length()), stream, m_correlation, arguments);
    }
    static double microseconds(Duration time) { return static_cast<double>(time.ns) / 1e3; }

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        if (!m_events.empty()) m_events += ",\n";
        fmt::format_to(std::back_inserter(m_events), format, std::forward<Values>(values)...);
    }

    std::int32_t m_rank, m_ranks;
    std::int64_t m_correlation = 0;
    std::string m_events;
};

}  // namespace

std::vector<std::vector<HostStep>> hostSteps(const SyntheticRun& run,
                                             const ProfilerOptions& options) {
    const auto calls = callsOf(run);
    std::vector<std::vector<HostStep>> steps(at(run.ranks));
    for (std::size_t rank = 0; rank < steps.size(); ++rank) {
        // Before the device has anything to do the host runs free.
        TraceTime free = run.iterations.front()[rank].begin;
        for (std::int32_t i = 0; i < options.stepsAhead; ++i)
            free = free - kHostWork - timeFor(calls[rank].front());
        for (std::size_t i = 0; i < run.iterations.size(); ++i) {
            TraceTime begin = free;
            if (i >= at(options.stepsAhead))
                begin = std::max(begin, run.iterations[i - at(options.stepsAhead)][rank].begin);
            HostStep step{
                {begin, begin + kHostWork + timeFor(calls[rank][i])}, {}, options.copyInTask};
            // A host that does not run ahead waits for its device.
            if (options.stepsAhead == 0) step.span.end = run.iterations[i][rank].end;
            if (options.sideCopies)
                step.copy = Interval{begin + Duration{10'000}, begin + Duration{60'000}};
            free = step.span.end;
            steps[rank].push_back(step);
        }
    }
    return steps;
}

std::vector<std::string> profilerFiles(const SyntheticRun& run,
                                       const std::vector<std::vector<HostStep>>& steps) {
    const auto calls = callsOf(run);
    std::vector<std::string> files;
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
        RankFile file(static_cast<std::int32_t>(rank), run.ranks);
        for (std::size_t i = 0; i < calls[rank].size(); ++i)
            file.addStep(i, steps[rank][i], calls[rank][i]);
        files.push_back(file.text());
    }
    return files;
}

}  // namespace pleat::testing
