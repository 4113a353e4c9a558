#include "support/synthetic_run.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "schedule/generators.h"
#include "support/synthetic_events.h"

namespace pleat::testing {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using schedule::Action;
using schedule::ActionKind;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

bool isForward(ActionKind kind) { return kind == ActionKind::Forward; }

bool isReceive(ActionKind kind) {
    return kind == ActionKind::ReceiveForward || kind == ActionKind::ReceiveBackward;
}

Duration timeOf(const std::vector<ExtraTime>& times, std::int32_t rank) {
    Duration sum;
    for (const ExtraTime& each : times) {
        if (each.rank == rank) sum += each.time;
    }
    return sum;
}

// One direction of a link between two ranks: its group and the moments its two threads are free.
struct Link {
    std::int64_t group = 0, sequence = 0;
    TraceTime senderFree, receiverFree;
};

// A message of a blocking engine: when each end came to it.
struct Meeting {
    bool sends = false, receives = false, numbered = false;
    TraceTime sender, receiver;
    std::int64_t sequence = 0;
};

class Run {
  public:
    explicit Run(const SyntheticOptions& options)
        : m_options(options),
          m_placement(options.schedule.placement),
          m_pipeline(options.schedule.ranks()),
          m_ranks(options.dp * m_pipeline * options.tp),
          m_clock(at(m_ranks)),
          m_sent(at(m_ranks)),
          m_held(at(m_ranks)),
          m_free(at(m_ranks)),
          m_syncSequence(at(m_pipeline * options.tp)),
          m_innerSequence(at(options.dp * m_pipeline)),
          m_events(options) {
        for (std::int32_t rank = 0; rank < m_ranks; ++rank)
            m_clock[at(rank)] = TraceTime{} + Duration{options.skew.ns * rank};
    }

    SyntheticRun run() && {
        if (m_options.withPayload) m_events.announce(m_clock);
        for (m_iteration = 0; m_iteration < m_options.iterations; ++m_iteration) runIteration();
        return std::move(m_events).finish();
    }

  private:
    using ActionKey = std::tuple<std::int32_t, std::int32_t, ActionKind, std::int32_t>;

    struct Sync {
        Action action;
        TraceTime issued;
    };

    // Ranks that differ in their tensor-parallel number alone run alike: the first one's number.
    std::int32_t placeOf(std::int32_t rank) const { return rank / m_options.tp; }
    std::int32_t pipelineRankOf(std::int32_t rank) const { return placeOf(rank) % m_pipeline; }
    // The rank of the same pipeline and tensor-parallel number that holds a stage.
    std::int32_t holderOf(std::int32_t rank, std::int32_t stage) const {
        const std::int32_t pipeline = placeOf(rank) / m_pipeline;
        return (pipeline * m_pipeline + m_placement.rankOf(stage)) * m_options.tp +
               rank % m_options.tp;
    }

    void runIteration() {
        m_events.setIteration(m_iteration);
        m_begin = m_clock;
        m_arrival.clear();
        m_meetings.clear();
        m_syncs.assign(m_clock.size(), {});
        m_issues.clear();
        for (std::int32_t rank = 0; rank < m_ranks; ++rank) {
            const Duration time = m_options.data + timeOf(m_options.lateData, rank);
            const Interval data{m_begin[at(rank)], m_begin[at(rank)] + time};
            m_events.addPhase(rank, false, data);
            m_events.hostIsFree(rank, data.end);
            m_clock[at(rank)] = data.end;
        }
        m_post = m_options.postAfterData ? m_clock : m_begin;
        runCompute();
        m_free.assign(m_clock.size(), {});
        if (!m_options.syncInTask) runSyncs();
        runOptimizers();
    }

    void runOptimizers() {
        std::vector<TraceTime> ready = m_clock;
        for (std::int32_t rank = 0; rank < m_ranks; ++rank) {
            TraceTime& mine = ready[at(rank)];
            mine = std::max(mine, m_free[at(rank)]);
            if (m_options.waitForSends) mine = std::max(mine, m_sent[at(rank)]);
        }
        if (m_options.clip) clip(ready);
        std::vector<Interval> whole;
        for (std::int32_t rank = 0; rank < m_ranks; ++rank) {
            const TraceTime begin = ready[at(rank)];
            m_clock[at(rank)] = begin + m_options.optimizer;
            m_events.addPhase(rank, true, {begin, m_clock[at(rank)]});
            whole.push_back({m_begin[at(rank)], m_clock[at(rank)]});
        }
        m_events.addIteration(std::move(whole));
    }

    void clip(std::vector<TraceTime>& ready) {
        const TraceTime last = *std::max_element(ready.begin(), ready.end());
        const TraceTime end = last + *m_options.clip;
        for (std::int32_t rank = 0; rank < m_ranks; ++rank) {
            addCollective(rank, {-1, ActionKind::ReduceGradient, -1, {}}, trace::Dimension::Other,
                          kClipGroup, m_iteration, {ready[at(rank)], end}, last);
            ready[at(rank)] = end;
        }
    }

    // Every place goes on as far as it can, in turn, until all are through.
    void runCompute() {
        std::vector<std::size_t> next(at(m_options.dp * m_pipeline), 0);
        for (bool progress = true; progress;) {
            progress = false;
            for (std::int32_t place = 0; place < m_options.dp * m_pipeline; ++place) {
                const auto& order = m_options.schedule.order[at(place % m_pipeline)];
                std::size_t& position = next[at(place)];
                while (position < order.size() && runAction(place, order, position)) {
                    ++position;
                    progress = true;
                }
            }
        }
    }

    bool runAction(std::int32_t place, const std::vector<Action>& order, std::size_t position) {
        const Action& action = order[position];
        if (isCommunication(action.kind)) return runMessage(place, action);
        if (action.kind == ActionKind::ReduceGradient) return issueSync(place, action);
        const std::int32_t first = place * m_options.tp, last = first + m_options.tp;
        for (std::int32_t rank = first; rank < last; ++rank) {
            if (!canBegin(rank, action)) return false;
        }
        const bool held = m_options.syncInTask && m_options.dp > 1 && position + 1 < order.size() &&
                          order[position + 1].kind == ActionKind::ReduceGradient;
        for (SyntheticTask& task : execute(first, last, action)) {
            const std::int32_t rank = task.rank;
            const TraceTime end = task.span.end;
            m_clock[at(rank)] = end;
            if (held) {
                m_held[at(rank)] = std::move(task);
            } else {
                m_events.addTask(std::move(task));
            }
            if (action.kind != ActionKind::WeightBackward && !m_options.blocking)
                passOn(rank, action, end);
        }
        return true;
    }

    // What a task needs from another stage; nothing where its engine has waited for it before.
    const TraceTime* neededBy(std::int32_t rank, const Action& action, bool& needed) const {
        const std::int32_t before = isForward(action.kind) ? action.stage - 1 : action.stage + 1;
        needed = !m_options.blocking && action.kind != ActionKind::WeightBackward && before >= 0 &&
                 before < m_placement.stages();
        const auto arrived =
            m_arrival.find({rank, action.stage, direction(action.kind), action.microbatch});
        return arrived == m_arrival.end() ? nullptr : &arrived->second;
    }

    bool canBegin(std::int32_t rank, const Action& action) const {
        bool needed = false;
        return neededBy(rank, action, needed) != nullptr || !needed;
    }

    TraceTime beginOf(std::int32_t rank, const Action& action) {
        bool needed = false;
        TraceTime start = m_clock[at(rank)];
        const TraceTime* const arrived = neededBy(rank, action, needed);
        if (needed) start = std::max(start, *arrived);
        if (const auto late = timeOf(m_options.launchDelays, rank, action); late.ns > 0) {
            start = start + late;
            m_events.hostIsFree(rank, start);
        }
        return start;
    }

    // The task on each tensor-parallel rank: their own work, with a collective between two pieces.
    std::vector<SyntheticTask> execute(std::int32_t first, std::int32_t last,
                                       const Action& action) {
        const std::int32_t inner = m_options.tp > 1 ? m_options.innerCollectives : 0;
        std::vector<SyntheticTask> tasks;
        std::vector<Duration> costs;
        for (std::int32_t rank = first; rank < last; ++rank) {
            const TraceTime begin = beginOf(rank, action);
            tasks.push_back(
                {rank, m_iteration, m_placement.chunkOf(action.stage), action, {begin, begin}, {}});
            costs.push_back(cost(rank, action));
        }
        for (std::int32_t piece = 0; piece <= inner; ++piece) {
            for (std::size_t i = 0; i < tasks.size(); ++i) {
                const std::int64_t part =
                    costs[i].ns * (piece + 1) / (inner + 1) - costs[i].ns * piece / (inner + 1);
                const TraceTime begin = tasks[i].span.end;
                tasks[i].span.end = begin + Duration{part};
                tasks[i].work.push_back({begin, tasks[i].span.end});
            }
            if (piece < inner) reduceWithin(tasks, action);
        }
        return tasks;
    }

    void reduceWithin(std::vector<SyntheticTask>& tasks, const Action& action) {
        TraceTime ready = tasks.front().span.end;
        for (const SyntheticTask& task : tasks) ready = std::max(ready, task.span.end);
        const std::int32_t place = placeOf(tasks.front().rank);
        const std::int64_t sequence = m_innerSequence[at(place)]++;
        for (SyntheticTask& task : tasks) {
            addCollective(task.rank, action, trace::Dimension::Tp, kInnerGroup + place, sequence,
                          {task.span.end, ready + m_options.inner}, ready);
            task.span.end = ready + m_options.inner;
        }
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
            const bool ofThis = delay.microbatch < 0 || delay.microbatch == action.microbatch;
            if (now && ofThis && delay.rank == rank) time += delay.time;
        }
        return time;
    }
    static Duration timeOf(const std::vector<ExtraTime>& times, std::int32_t rank) {
        return testing::timeOf(times, rank);
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
        const std::int32_t peer = holderOf(rank, target);
        const ActionKey key{peer, target, direction(action.kind), action.microbatch};
        if (peer == rank) {
            m_arrival[key] = done;
            return;
        }
        Link& link = linkOf(rank, peer, forward);
        const TraceTime sendBegin = std::max(done, link.senderFree);
        const TraceTime receiveBegin = std::max(m_post[at(peer)], link.receiverFree);
        const TraceTime ready = std::max(sendBegin, receiveBegin);
        const TraceTime end = ready + linkTime(rank, peer);
        link.senderFree = link.receiverFree = end;
        m_arrival[key] = end;
        m_sent[at(rank)] = std::max(m_sent[at(rank)], end);
        addMessage(rank, action.stage, sendOf(forward), action.microbatch, peer, link.group,
                   link.sequence, {sendBegin, end}, ready);
        addMessage(peer, target, receiveOf(forward), action.microbatch, rank, link.group,
                   link.sequence, {receiveBegin, end}, ready);
        ++link.sequence;
    }

    static ActionKind sendOf(bool forward) {
        return forward ? ActionKind::SendForward : ActionKind::SendBackward;
    }
    static ActionKind receiveOf(bool forward) {
        return forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward;
    }

    // One end of a message of a blocking engine: goes on once the other end has come to it too.
    bool runMessage(std::int32_t place, const Action& action) {
        bool all = true;
        for (std::int32_t t = 0; t < m_options.tp; ++t) {
            const std::int32_t rank = place * m_options.tp + t;
            Meeting& meeting = meetingOf(rank, action);
            const bool receives = isReceive(action.kind);
            bool& here = receives ? meeting.receives : meeting.sends;
            if (!here) (receives ? meeting.receiver : meeting.sender) = m_clock[at(rank)];
            here = true;
            all = all && meeting.sends && meeting.receives;
        }
        if (!all) return false;
        for (std::int32_t t = 0; t < m_options.tp; ++t)
            exchange(place * m_options.tp + t, action, meetingOf(place * m_options.tp + t, action));
        return true;
    }

    static bool isForwardMessage(const Action& action) {
        return action.kind == ActionKind::SendForward || action.kind == ActionKind::ReceiveForward;
    }

    // The rank at the other end.
    std::int32_t peerOf(std::int32_t rank, const Action& action) const {
        const bool onwards = isForwardMessage(action) != isReceive(action.kind);
        return holderOf(rank, action.stage + (onwards ? 1 : -1));
    }

    Meeting& meetingOf(std::int32_t rank, const Action& action) {
        const bool forward = isForwardMessage(action), receives = isReceive(action.kind);
        const std::int32_t target = receives  ? action.stage
                                    : forward ? action.stage + 1
                                              : action.stage - 1;
        const std::int32_t receiver = receives ? rank : peerOf(rank, action);
        return m_meetings[{receiver, target, receiveOf(forward), action.microbatch}];
    }

    void exchange(std::int32_t rank, const Action& action, Meeting& meeting) {
        const bool receives = isReceive(action.kind);
        const std::int32_t peer = peerOf(rank, action);
        const std::int32_t sender = receives ? peer : rank, receiver = receives ? rank : peer;
        Link& link = linkOf(sender, receiver, isForwardMessage(action));
        if (!meeting.numbered) meeting.sequence = link.sequence++;
        meeting.numbered = true;
        const TraceTime ready = std::max(meeting.sender, meeting.receiver);
        const TraceTime end = ready + linkTime(sender, receiver);
        addMessage(rank, action.stage, action.kind, action.microbatch, peer, link.group,
                   meeting.sequence, {receives ? meeting.receiver : meeting.sender, end}, ready);
        m_clock[at(rank)] = end;
    }

    void addMessage(std::int32_t rank, std::int32_t stage, ActionKind kind, std::int32_t microbatch,
                    std::int32_t peer, std::int64_t group, std::int64_t sequence, Interval span,
                    TraceTime ready) {
        m_events.addTransfer({rank, m_iteration, m_placement.chunkOf(stage),
                              Action{stage, kind, microbatch, {}}, peer, group, sequence, span,
                              ready, trace::Dimension::Pp, 0});
    }

    void addCollective(std::int32_t rank, const Action& action, trace::Dimension dimension,
                       std::int64_t group, std::int64_t sequence, Interval span, TraceTime ready) {
        const std::int32_t chunk = action.stage < 0 ? 0 : m_placement.chunkOf(action.stage);
        m_events.addTransfer(
            {rank, m_iteration, chunk, action, -1, group, sequence, span, ready, dimension, 0});
    }

    Link& linkOf(std::int32_t sender, std::int32_t receiver, bool forward) {
        const auto [found, isNew] = m_links.try_emplace({sender, receiver, forward});
        if (isNew) {
            const auto ends = forward ? std::pair(sender, receiver) : std::pair(receiver, sender);
            const auto next =
                static_cast<std::int64_t>(m_groupOfLink.size()) + m_pipeline * m_options.tp;
            found->second.group = m_groupOfLink.try_emplace(ends, next).first->second;
        }
        return found->second;
    }

    // A sync beside the compute is noted for later; one within a task waits for the other replicas.
    bool issueSync(std::int32_t place, const Action& action) {
        const std::int32_t first = place * m_options.tp, last = first + m_options.tp;
        if (!m_options.syncInTask) {
            for (std::int32_t rank = first; rank < last; ++rank)
                m_syncs[at(rank)].push_back({action, m_clock[at(rank)]});
            return true;
        }
        if (m_options.dp == 1) return true;
        auto& issued = m_issues[{place % m_pipeline, action.stage}];
        for (std::int32_t rank = first; rank < last; ++rank)
            issued.try_emplace(rank, m_clock[at(rank)]);
        if (issued.size() < at(m_options.dp * m_options.tp)) return false;
        for (std::int32_t rank = first; rank < last; ++rank) reduceHeld(rank, action, issued);
        return true;
    }

    void reduceHeld(std::int32_t rank, const Action& action,
                    const std::map<std::int32_t, TraceTime>& issued) {
        TraceTime ready = issued.at(rank);
        for (const auto& [member, time] : issued) {
            if (member % m_options.tp == rank % m_options.tp) ready = std::max(ready, time);
        }
        const TraceTime end = ready + syncTime(pipelineRankOf(rank));
        const std::int32_t group = pipelineRankOf(rank) * m_options.tp + rank % m_options.tp;
        const std::int64_t sequence =
            std::int64_t{m_iteration} * m_placement.stages() + action.stage;
        addCollective(rank, action, trace::Dimension::Dp, group, sequence, {issued.at(rank), end},
                      ready);
        SyntheticTask& task = m_held[at(rank)];
        task.span.end = end + m_options.bucketCopy;
        task.work.push_back({end, task.span.end});
        m_clock[at(rank)] = task.span.end;
        m_events.addTask(std::move(task));
    }

    Duration syncTime(std::int32_t pipelineRank) const {
        return m_options.sync + timeOf(m_options.slowSyncs, pipelineRank);
    }

    // The syncs of each pipeline rank in order; m_free: when each rank's last one ended.
    void runSyncs() {
        if (m_options.dp == 1) return;
        const std::int32_t perReplica = m_pipeline * m_options.tp;
        for (std::int32_t group = 0; group < perReplica; ++group) {
            for (std::size_t k = 0; k < m_syncs[at(group)].size(); ++k) {
                std::vector<TraceTime> begins;
                for (std::int32_t rank = group; rank < m_ranks; rank += perReplica)
                    begins.push_back(std::max(m_free[at(rank)], m_syncs[at(rank)][k].issued));
                const TraceTime ready = *std::max_element(begins.begin(), begins.end());
                const TraceTime end = ready + syncTime(pipelineRankOf(group));
                const std::int64_t sequence = m_syncSequence[at(group)]++;
                for (std::int32_t d = 0; d < m_options.dp; ++d) {
                    const std::int32_t rank = d * perReplica + group;
                    addCollective(rank, m_syncs[at(rank)][k].action, trace::Dimension::Dp, group,
                                  sequence, {begins[at(d)], end}, ready);
                    m_free[at(rank)] = end;
                }
            }
        }
    }

    static constexpr std::int64_t kInnerGroup = 1'000'000, kClipGroup = 2'000'000;

    const SyntheticOptions& m_options;
    const schedule::Placement& m_placement;
    std::int32_t m_pipeline, m_ranks;
    std::int32_t m_iteration = 0;
    std::vector<TraceTime> m_clock, m_begin;   // [rank]
    std::vector<TraceTime> m_post;             // [rank]: when it posts its receives
    std::vector<TraceTime> m_sent;             // [rank]: when its last send ended
    std::vector<SyntheticTask> m_held;         // [rank]: a task that ends with its sync
    std::vector<TraceTime> m_free;             // [rank]: when its last sync ended
    std::map<ActionKey, TraceTime> m_arrival;  // what a task waits for
    std::map<ActionKey, Meeting> m_meetings;   // by receive
    std::map<std::tuple<std::int32_t, std::int32_t, bool>, Link> m_links;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> m_groupOfLink;
    std::vector<std::vector<Sync>> m_syncs;  // [rank]
    // By pipeline rank and stage: when each rank came to a sync within a task.
    std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::int32_t, TraceTime>> m_issues;
    std::vector<std::int64_t> m_syncSequence;   // [pipeline rank * T + t]
    std::vector<std::int64_t> m_innerSequence;  // [place]
    SyntheticEvents m_events;
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

}  // namespace pleat::testing
