#include "support/synthetic_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "schedule/generators.h"
#include "schedule/markers.h"
#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace pleat::testing {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using schedule::Action;
using schedule::ActionKind;
namespace markers = schedule::markers;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

bool isForward(ActionKind kind) { return kind == ActionKind::Forward; }

// One direction of a link between two ranks: its group and the moments its two threads are free.
struct Link {
    std::int64_t group = 0, sequence = 0;
    TraceTime senderFree, receiverFree;
};

class Run {
  public:
    explicit Run(const SyntheticOptions& options)
        : m_options(options),
          m_placement(options.schedule.placement),
          m_pipeline(options.schedule.ranks()),
          m_clock(at(options.dp * m_pipeline)),
          m_host(m_clock.size()),
          m_sent(m_clock.size()),
          m_laneOf(m_clock.size()) {
        m_result.ranks = options.dp * m_pipeline;
        m_result.pipelineRanks = m_pipeline;
        m_result.announceRank = options.announceRank;
        for (std::int32_t rank = 0; rank < m_result.ranks; ++rank) {
            m_clock[at(rank)] = TraceTime{} + Duration{options.skew.ns * rank};
        }
        m_syncSequence.resize(at(m_pipeline));
    }

    SyntheticRun run() && {
        if (m_options.withPayload) announce();
        for (m_iteration = 0; m_iteration < m_options.iterations; ++m_iteration) runIteration();
        const auto order = [](const auto& a, const auto& b) {
            return std::tie(a.rank, a.span.begin, a.span.end) <
                   std::tie(b.rank, b.span.begin, b.span.end);
        };
        std::stable_sort(m_result.tasks.begin(), m_result.tasks.end(), order);
        std::stable_sort(m_result.transfers.begin(), m_result.transfers.end(), order);
        return std::move(m_result);
    }

  private:
    using ActionKey = std::tuple<std::int32_t, std::int32_t, ActionKind, std::int32_t>;

    struct Sync {
        Action action;
        TraceTime issued;
    };

    void runIteration() {
        m_begin = m_clock;
        m_arrival.clear();
        m_syncs.assign(m_clock.size(), {});
        for (std::int32_t rank = 0; rank < m_result.ranks; ++rank) {
            const Interval data{m_begin[at(rank)], m_begin[at(rank)] + m_options.data};
            addPhase(rank, false, data);
            m_clock[at(rank)] = m_host[at(rank)] = data.end;
        }
        runCompute();
        const std::vector<TraceTime> synced = runSyncs();
        m_result.iterations.emplace_back();
        for (std::int32_t rank = 0; rank < m_result.ranks; ++rank) {
            TraceTime begin = std::max(m_clock[at(rank)], synced[at(rank)]);
            if (m_options.waitForSends) begin = std::max(begin, m_sent[at(rank)]);
            addPhase(rank, true, {begin, begin + m_options.optimizer});
            m_clock[at(rank)] = begin + m_options.optimizer;
            const Interval whole{m_begin[at(rank)], m_clock[at(rank)]};
            addNamed(rank, markers::kIteration, whole);
            m_result.iterations.back().push_back(whole);
        }
    }

    // Every rank goes on as far as it can, in turn, until all are through.
    void runCompute() {
        std::vector<std::size_t> next(m_clock.size(), 0);
        for (bool progress = true; progress;) {
            progress = false;
            for (std::int32_t rank = 0; rank < m_result.ranks; ++rank) {
                const auto& order = m_options.schedule.order[at(rank % m_pipeline)];
                std::size_t& position = next[at(rank)];
                while (position < order.size() && runAction(rank, order[position])) {
                    ++position;
                    progress = true;
                }
            }
        }
    }

    bool runAction(std::int32_t rank, const Action& action) {
        if (action.kind == ActionKind::ReduceGradient) {
            m_syncs[at(rank)].push_back({action, m_clock[at(rank)]});
            return true;
        }
        TraceTime start = m_clock[at(rank)];
        const std::int32_t before = isForward(action.kind) ? action.stage - 1 : action.stage + 1;
        if (action.kind != ActionKind::WeightBackward && before >= 0 &&
            before < m_placement.stages()) {
            const auto arrived =
                m_arrival.find({rank, action.stage, direction(action.kind), action.microbatch});
            if (arrived == m_arrival.end()) return false;
            start = std::max(start, arrived->second);
        }
        if (const auto late = timeOf(m_options.launchDelays, rank, action); late.ns > 0) {
            start = start + late;
            m_host[at(rank)] = start;
        }
        const Interval span{start, start + cost(rank, action)};
        m_clock[at(rank)] = span.end;
        addTask(rank, action, span);
        if (action.kind != ActionKind::WeightBackward) passOn(rank, action, span.end);
        return true;
    }

    static ActionKind direction(ActionKind kind) {
        return isForward(kind) ? ActionKind::Forward : ActionKind::FullBackward;
    }

    Duration cost(std::int32_t rank, const Action& action) const {
        if (m_options.cost) return m_options.cost(rank, action);
        const auto& costs = isForward(action.kind) ? m_options.forward : m_options.backward;
        return (costs.size() == 1 ? costs.front() : costs[at(action.stage)]) +
               timeOf(m_options.extra, rank, action);
    }

    Duration timeOf(const std::vector<ExtraDelay>& delays, std::int32_t rank,
                    const Action& action) const {
        Duration time;
        for (const ExtraDelay& delay : delays) {
            const bool now = delay.iteration < 0 || delay.iteration == m_iteration;
            if (now && delay.rank == rank && delay.microbatch == action.microbatch)
                time += delay.time;
        }
        return time;
    }

    Duration linkTime(std::int32_t sender, std::int32_t receiver) const {
        Duration time = m_options.link;
        for (const SlowLink& slow : m_options.slowLinks) {
            if (slow.sender == sender && slow.receiver == receiver) time += slow.time;
        }
        return time;
    }

    // Hands the result of a task to the stage that needs it, over a link unless it is at home.
    void passOn(std::int32_t rank, const Action& action, TraceTime done) {
        const bool forward = isForward(action.kind);
        const std::int32_t target = action.stage + (forward ? 1 : -1);
        if (target < 0 || target >= m_placement.stages()) return;
        const std::int32_t peer = rank - rank % m_pipeline + m_placement.rankOf(target);
        const ActionKey key{peer, target, direction(action.kind), action.microbatch};
        if (peer == rank) {
            m_arrival[key] = done;
            return;
        }
        Link& link = linkOf(rank, peer, forward);
        const TraceTime sendBegin = std::max(done, link.senderFree);
        const TraceTime receiveBegin = std::max(m_begin[at(peer)], link.receiverFree);
        const TraceTime ready = std::max(sendBegin, receiveBegin);
        const TraceTime end = ready + linkTime(rank, peer);
        link.senderFree = link.receiverFree = end;
        m_arrival[key] = end;
        m_sent[at(rank)] = std::max(m_sent[at(rank)], end);
        const Action send{action.stage,
                          forward ? ActionKind::SendForward : ActionKind::SendBackward,
                          action.microbatch,
                          {}};
        const Action receive{target,
                             forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward,
                             action.microbatch,
                             {}};
        addTransfer({rank,
                     m_iteration,
                     m_placement.chunkOf(action.stage),
                     send,
                     peer,
                     link.group,
                     link.sequence,
                     {sendBegin, end},
                     ready});
        addTransfer({peer,
                     m_iteration,
                     m_placement.chunkOf(target),
                     receive,
                     rank,
                     link.group,
                     link.sequence,
                     {receiveBegin, end},
                     ready});
        ++link.sequence;
    }

    Link& linkOf(std::int32_t sender, std::int32_t receiver, bool forward) {
        const auto [found, isNew] = m_links.try_emplace({sender, receiver, forward});
        if (isNew) {
            const auto ends = forward ? std::pair(sender, receiver) : std::pair(receiver, sender);
            const auto next = static_cast<std::int64_t>(m_groupOfLink.size()) + m_pipeline;
            found->second.group = m_groupOfLink.try_emplace(ends, next).first->second;
        }
        return found->second;
    }

    // The syncs of each pipeline rank in order; gives when each rank's last one ended.
    std::vector<TraceTime> runSyncs() {
        std::vector<TraceTime> free(m_clock.size());
        if (m_options.dp == 1) return free;
        for (std::int32_t stageRank = 0; stageRank < m_pipeline; ++stageRank) {
            for (std::size_t k = 0; k < m_syncs[at(stageRank)].size(); ++k) {
                std::vector<TraceTime> begins;
                for (std::int32_t rank = stageRank; rank < m_result.ranks; rank += m_pipeline) {
                    begins.push_back(std::max(free[at(rank)], m_syncs[at(rank)][k].issued));
                }
                const TraceTime ready = *std::max_element(begins.begin(), begins.end());
                const TraceTime end = ready + m_options.sync;
                const std::int64_t sequence = m_syncSequence[at(stageRank)]++;
                for (std::int32_t d = 0; d < m_options.dp; ++d) {
                    const std::int32_t rank = d * m_pipeline + stageRank;
                    const Action& action = m_syncs[at(rank)][k].action;
                    addTransfer({rank,
                                 m_iteration,
                                 m_placement.chunkOf(action.stage),
                                 action,
                                 -1,
                                 stageRank,
                                 sequence,
                                 {begins[at(d)], end},
                                 ready});
                    free[at(rank)] = end;
                }
            }
        }
        return free;
    }

    void announce() {
        for (std::int32_t rank = 0; rank < m_result.ranks; ++rank) {
            addMark(
                rank, markers::kRank,
                fmt::format(R"({{"rank":{},"world_size":{},"dp":{},"pp":{},"tp":0,"ep":0,"cp":0,)"
                            R"("device":"cpu"}})",
                            rank, m_result.ranks, rank / m_pipeline, rank % m_pipeline));
            if (m_options.dp == 1) continue;
            addMark(rank, markers::kProcessGroup,
                    fmt::format(R"({{"group":{},"size":{},"dimension":"dp"}})", rank % m_pipeline,
                                m_options.dp));
        }
    }

    void addMark(std::int32_t rank, std::string_view name, std::string arguments) {
        const TraceTime moment = m_clock[at(rank)];
        m_result.events.push_back({rank,
                                   0,
                                   std::string(name),
                                   std::string(markers::kTaskDomain),
                                   std::move(arguments),
                                   trace::EventKind::Mark,
                                   trace::EventFlag::None,
                                   {moment, moment}});
    }

    void addRange(std::int32_t rank, std::int32_t lane, std::string name, std::string_view domain,
                  std::string arguments, Interval span) {
        if (!m_options.withPayload) arguments.clear();
        m_result.events.push_back({rank, lane, std::move(name), std::string(domain),
                                   std::move(arguments), trace::EventKind::Range,
                                   trace::EventFlag::None, span});
    }

    void addNamed(std::int32_t rank, std::string_view name, Interval span) {
        addRange(rank, 0, std::string(name), markers::kTaskDomain,
                 fmt::format(R"({{"iteration":{}}})", m_iteration), span);
    }

    void addPhase(std::int32_t rank, bool optimizer, Interval span) {
        m_result.phases.push_back({rank, m_iteration, optimizer, span});
        const Interval onHost = optimizer ? calledFor(rank, span) : span;
        addNamed(rank, optimizer ? markers::kOptimizer : markers::kDataLoading, onHost);
    }

    void addTask(std::int32_t rank, const Action& action, Interval span) {
        const std::int32_t chunk = m_placement.chunkOf(action.stage);
        m_result.tasks.push_back({rank, m_iteration, chunk, action, span});
        addRange(rank, 0, toString(action), markers::kTaskDomain,
                 fmt::format(R"({{"iteration":{},"stage":{},"chunk":{},"microbatch":{}}})",
                             m_iteration, action.stage, chunk, action.microbatch),
                 calledFor(rank, span));
    }

    // The host's range around the call of this work; without devices the work itself.
    Interval calledFor(std::int32_t rank, Interval work) {
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

    void addTransfer(const SyntheticTransfer& transfer) {
        const ActionKind kind = transfer.action.kind;
        const bool sync = kind == ActionKind::ReduceGradient;
        const bool sends = kind == ActionKind::SendForward || kind == ActionKind::SendBackward;
        auto& lanes = m_laneOf[at(transfer.rank)];
        const auto lane =
            lanes.try_emplace({kind, transfer.peer}, static_cast<std::int32_t>(lanes.size()) + 1);
        addRange(transfer.rank, lane.first->second, toString(transfer.action),
                 markers::kTransferDomain,
                 fmt::format(R"({{"bytes":4096,"sequence":{},"iteration":{},"stage":{},"chunk":{},)"
                             R"("microbatch":{},"group":{},"peer":{},"operation":"{}",)"
                             R"("dimension":"{}"}})",
                             transfer.sequence, m_iteration, transfer.action.stage, transfer.chunk,
                             transfer.action.microbatch, transfer.group, transfer.peer,
                             sync ? "all_reduce" : (sends ? "send" : "recv"), sync ? "dp" : "pp"),
                 transfer.span);
        m_result.transfers.push_back(transfer);
    }

    const SyntheticOptions& m_options;
    const schedule::Placement& m_placement;
    std::int32_t m_pipeline;
    std::int32_t m_iteration = 0;
    std::vector<TraceTime> m_clock, m_begin;   // [rank]
    std::vector<TraceTime> m_host;             // [rank]: when the host is free to call
    std::vector<TraceTime> m_sent;             // [rank]: when its last send ended
    std::map<ActionKey, TraceTime> m_arrival;  // what a task waits for
    std::map<std::tuple<std::int32_t, std::int32_t, bool>, Link> m_links;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> m_groupOfLink;
    std::vector<std::vector<Sync>> m_syncs;    // [rank]
    std::vector<std::int64_t> m_syncSequence;  // [pipeline rank]
    std::vector<std::map<std::pair<ActionKind, std::int32_t>, std::int32_t>> m_laneOf;  // [rank]
    SyntheticRun m_result;
};

}  // namespace

SyntheticOptions balancedOptions(std::string_view schedule, std::int32_t chunks,
                                 std::int32_t microbatches) {
    SyntheticOptions options;
    options.schedule = *schedule::makeSchedule(schedule, {2, microbatches, chunks, 0});
    options.dp = 2;
    options.iterations = 2;
    options.forward = {{1'000'000}};
    options.backward = {{2'000'000}};
    options.link = {100'000};
    options.sync = {500'000};
    return options;
}

SyntheticRun makeSyntheticRun(const SyntheticOptions& options) { return Run(options).run(); }

trace::Trace traceOf(const SyntheticRun& run, std::optional<std::uint32_t> shuffleSeed) {
    trace::TraceBuilder builder;
    std::vector<std::int32_t> lanesOfRank(at(run.ranks), 1);
    bool hasDevices = false;
    for (const SyntheticEvent& event : run.events) {
        lanesOfRank[at(event.rank)] = std::max(lanesOfRank[at(event.rank)], event.lane + 1);
        hasDevices = hasDevices || event.lane == kDeviceLane;
    }
    std::vector<std::vector<trace::LaneId>> lanes(at(run.ranks));
    std::vector<trace::LaneId> devices(at(run.ranks));
    for (std::int32_t number = 0; number < run.ranks; ++number) {
        trace::Rank rank;
        rank.number = run.announceRank ? number : -1;
        rank.host = "host";
        rank.pid = 1000 + number;
        rank.program = "train";
        const trace::RankId id = builder.addRank(rank);
        for (std::int32_t lane = 0; lane < lanesOfRank[at(number)]; ++lane) {
            lanes[at(number)].push_back(
                builder.addLane({id, trace::LaneKind::HostThread, rank.pid * 100 + lane, ""}));
        }
        if (hasDevices)
            devices[at(number)] = builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""});
    }
    std::vector<std::size_t> order(run.events.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (shuffleSeed) std::shuffle(order.begin(), order.end(), std::mt19937(*shuffleSeed));
    std::vector<std::size_t> added(run.events.size());
    for (const std::size_t position : order) {
        const SyntheticEvent& event = run.events[position];
        added[position] = builder.eventCount();
        const trace::LaneId lane = event.lane == kDeviceLane
                                       ? devices[at(event.rank)]
                                       : lanes[at(event.rank)][at(event.lane)];
        builder.addEvent({lane, builder.intern(event.name),
                          event.domain.empty() ? base::StringId() : builder.intern(event.domain),
                          event.kind, event.flag, event.span},
                         event.arguments);
    }
    for (std::size_t i = 0; i < run.events.size(); ++i) {
        if (run.events[i].launchedBy >= 0) {
            builder.addDependency(added[at(run.events[i].launchedBy)], added[i],
                                  trace::DependencyKind::Launch);
        }
    }
    return std::move(builder).build().trace;
}

}  // namespace pleat::testing
