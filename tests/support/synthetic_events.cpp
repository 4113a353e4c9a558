#include "support/synthetic_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "schedule/markers.h"
#include "trace/categories.h"

namespace pleat::testing {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using schedule::ActionKind;
namespace markers = schedule::markers;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

SyntheticEvents::SyntheticEvents(const SyntheticOptions& options) : m_options(options) {
    m_result.pipelineRanks = options.schedule.ranks();
    m_result.tensorRanks = options.tp;
    m_result.ranks = options.dp * m_result.pipelineRanks * options.tp;
    m_result.announceRank = options.announceRank;
    m_host.resize(at(m_result.ranks));
    m_laneOf.resize(at(m_result.ranks));
}

void SyntheticEvents::hostIsFree(std::int32_t rank, TraceTime time) { m_host[at(rank)] = time; }

void SyntheticEvents::announce(const std::vector<TraceTime>& moments) {
    for (std::int32_t rank = 0; rank < m_result.ranks; ++rank) {
        const std::int32_t place = rank / m_options.tp;
        const std::int32_t pp = place % m_result.pipelineRanks;
        const std::int32_t dp = place / m_result.pipelineRanks;
        addMark(rank, moments[at(rank)], markers::kRank,
                fmt::format(R"({{"rank":{},"world_size":{},"dp":{},"pp":{},"tp":{},"ep":0,"cp":0,)"
                            R"("device":"cpu"}})",
                            rank, m_result.ranks, dp, pp, rank % m_options.tp));
        if (m_options.dp == 1) continue;
        addMark(rank, moments[at(rank)], markers::kProcessGroup,
                fmt::format(R"({{"group":{},"size":{},"dimension":"dp"}})",
                            pp * m_options.tp + rank % m_options.tp, m_options.dp));
    }
}

void SyntheticEvents::addMark(std::int32_t rank, TraceTime moment, std::string_view name,
                              std::string arguments) {
    m_result.events.push_back({rank,
                               0,
                               std::string(name),
                               std::string(markers::kTaskDomain),
                               std::move(arguments),
                               trace::EventKind::Mark,
                               trace::EventFlag::None,
                               {moment, moment}});
}

void SyntheticEvents::addRange(std::int32_t rank, std::int32_t lane, std::string name,
                               std::string_view domain, std::string arguments, Interval span) {
    if (!m_options.withPayload) arguments.clear();
    m_result.events.push_back({rank, lane, std::move(name), std::string(domain),
                               std::move(arguments), trace::EventKind::Range,
                               trace::EventFlag::None, span});
}

void SyntheticEvents::addNamed(std::int32_t rank, std::string_view name, Interval span) {
    addRange(rank, 0, std::string(name), markers::kTaskDomain,
             fmt::format(R"({{"iteration":{}}})", m_iteration), span);
}

void SyntheticEvents::addPhase(std::int32_t rank, bool optimizer, Interval span) {
    m_result.phases.push_back({rank, m_iteration, optimizer, span});
    const Interval onHost = optimizer ? calledFor(rank, span) : span;
    addNamed(rank, optimizer ? markers::kOptimizer : markers::kDataLoading, onHost);
}

void SyntheticEvents::addTask(SyntheticTask task) {
    task.iteration = m_iteration;
    addRange(task.rank, 0, toString(task.action), markers::kTaskDomain,
             fmt::format(R"({{"iteration":{},"stage":{},"chunk":{},"microbatch":{}}})", m_iteration,
                         task.action.stage, task.chunk, task.action.microbatch),
             calledFor(task.rank, task.span));
    m_result.tasks.push_back(std::move(task));
}

// The host's range around the call of this work; without devices the work itself.
Interval SyntheticEvents::calledFor(std::int32_t rank, Interval work) {
    if (!m_options.devices) return work;
    TraceTime& host = m_host[at(rank)];
    const Interval range{host, host + Duration{2}};
    host = range.end + Duration{1};
    addRange(rank, 0, "cudaLaunchKernel", trace::categories::kRuntimeCall, "",
             {range.begin, range.begin + Duration{1}});
    const auto call = static_cast<std::int32_t>(m_result.events.size()) - 1;
    addRange(rank, kDeviceLane, "gemm", trace::categories::kKernel, "", work);
    m_result.events.back().launchedBy = call;
    return range;
}

std::int32_t SyntheticEvents::laneOf(const SyntheticTransfer& transfer) {
    const bool withinTasks = transfer.dimension == trace::Dimension::Tp;
    if (withinTasks || (m_options.blocking && transfer.peer >= 0)) return 0;
    auto& lanes = m_laneOf[at(transfer.rank)];
    const auto next = static_cast<std::int32_t>(lanes.size()) + 1;
    return lanes.try_emplace({transfer.dimension, transfer.action.kind, transfer.peer}, next)
        .first->second;
}

void SyntheticEvents::addTransfer(SyntheticTransfer transfer) {
    transfer.iteration = m_iteration;
    transfer.lane = laneOf(transfer);
    const ActionKind kind = transfer.action.kind;
    const bool sends = kind == ActionKind::SendForward || kind == ActionKind::SendBackward;
    const bool ofSchedule =
        transfer.peer >= 0 || transfer.dimension == trace::Dimension::Dp;  // else it has no action
    addRange(
        transfer.rank, transfer.lane,
        ofSchedule ? toString(transfer.action) : std::string("ALL_REDUCE"),
        markers::kTransferDomain,
        fmt::format(R"({{"bytes":4096,"sequence":{},"iteration":{},"stage":{},"chunk":{},)"
                    R"("microbatch":{},"group":{},"peer":{},"operation":"{}",)"
                    R"("dimension":"{}"}})",
                    transfer.sequence, m_iteration, ofSchedule ? transfer.action.stage : -1,
                    transfer.chunk, ofSchedule ? transfer.action.microbatch : -1, transfer.group,
                    transfer.peer, transfer.peer < 0 ? "all_reduce" : (sends ? "send" : "recv"),
                    trace::toString(transfer.dimension)),
        transfer.span);
    m_result.transfers.push_back(std::move(transfer));
}

void SyntheticEvents::addIteration(std::vector<Interval> ofRanks) {
    for (std::size_t rank = 0; rank < ofRanks.size(); ++rank)
        addNamed(static_cast<std::int32_t>(rank), markers::kIteration, ofRanks[rank]);
    m_result.iterations.push_back(std::move(ofRanks));
}

SyntheticRun SyntheticEvents::finish() && {
    const auto order = [](const auto& a, const auto& b) {
        return std::tie(a.rank, a.span.begin, a.span.end) <
               std::tie(b.rank, b.span.begin, b.span.end);
    };
    std::stable_sort(m_result.tasks.begin(), m_result.tasks.end(), order);
    std::stable_sort(m_result.transfers.begin(), m_result.transfers.end(), order);
    return std::move(m_result);
}

}  // namespace pleat::testing
