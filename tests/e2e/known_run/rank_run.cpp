#include "e2e/known_run/rank_run.h"

#include <algorithm>
#include <cstring>

#include "e2e/known_run/clock.h"

namespace pleat::test::known {
namespace {

using schedule::Action;
using schedule::ActionKind;

bool isReceive(const Action& action) {
    return action.kind == ActionKind::ReceiveForward || action.kind == ActionKind::ReceiveBackward;
}
bool isForwardMessage(const Action& action) {
    return action.kind == ActionKind::SendForward || action.kind == ActionKind::ReceiveForward;
}

template <std::size_t size>
void copyText(char (&to)[size], const char* from) {
    std::strncpy(to, from, size - 1);  // the payload starts zeroed, so the text ends
}

}  // namespace

RankRun::RankRun(const Plan& plan, const Wiring& wiring, std::int32_t rank)
    : m_plan(plan), m_wiring(wiring), m_rank(rank), m_dp(rank / plan.pp()), m_pp(rank % plan.pp()) {
    m_markers->nameThread("compute");
    for (const auto& [key, channel] : wiring.channels()) m_sequence[channel.group] = 0;
    m_sequence[wiring.syncGroup(m_pp)] = 0;
}

void RankRun::announce() {
    runtime::payload::RankPayload rank{m_rank, m_plan.worldSize(), m_dp, m_pp, 0, 0, 0, {}};
    copyText(rank.device, "emulated");
    m_markers->announceRank(rank);
    const auto group = [&](std::int32_t number, std::int32_t size, const char* dimension) {
        runtime::payload::ProcessGroupPayload described{number, size, {}};
        copyText(described.dimension, dimension);
        m_markers->announceGroup(described);
    };
    for (const auto& [key, channel] : m_wiring.channels()) {
        if (channel.from == m_rank || channel.to == m_rank) group(channel.group, 2, "pp");
    }
    if (m_plan.dp > 1) group(m_wiring.syncGroup(m_pp), m_plan.dp, "dp");
}

void RankRun::run() {
    announce();
    for (m_iteration = 0; m_iteration < m_plan.iterations; ++m_iteration) {
        m_wiring.begin(m_rank, m_iteration) = nowNs();
        runIteration();
    }
    m_wiring.begin(m_rank, m_plan.iterations) = nowNs();
}

void RankRun::runIteration() {
    m_markers->pushPhase(m_markers->taskName(schedule::markers::kIteration), {m_iteration});
    const std::vector<Action>& order = m_plan.lowered.order[static_cast<std::size_t>(m_pp)];
    const auto& placement = m_plan.lowered.placement;
    if (placement.rankOf(0) == m_pp) phase(schedule::markers::kDataLoading);
    if (m_plan.engine == Engine::Ahead || m_plan.engine == Engine::Posted) {
        for (const Action& action : order) {
            if (isReceive(action))
                m_arriving[toString(action)] = post("recv " + laneOf(action), action);
        }
    }
    for (std::size_t i = 0; i < order.size(); ++i) step(order, i);
    m_board.waitForAll();
    phase(schedule::markers::kOptimizer);
    m_markers->popTask();
}

void RankRun::phase(std::string_view name) {
    Work work{name, m_rank, -1, m_dp, -1, m_iteration};
    m_markers->pushPhase(m_markers->taskName(name), {m_iteration});
    sleepUntil(m_plan.endOf(work, nowNs()));
    m_markers->popTask();
}

void RankRun::step(const std::vector<Action>& order, std::size_t position) {
    const Action& action = order[position];
    if (isCompute(action.kind)) return compute(order, position);
    if (m_plan.engine == Engine::Nested) return;  // done within the task before
    if (isCommunication(action.kind)) return communicate(order, position);
    if (action.kind == ActionKind::ReduceGradient && m_plan.dp > 1) reduce(action);
}

Work RankRun::workOf(std::string_view operation, const Action& action) const {
    return {operation, m_rank, action.stage, m_dp, action.microbatch, m_iteration};
}

void RankRun::compute(const std::vector<Action>& order, std::size_t position) {
    const Action& action = order[position];
    const bool nested = m_plan.engine == Engine::Nested;
    if (!nested) receiveFor(action);
    const Work work = workOf(action.kind == ActionKind::Forward ? "F" : "B", action);
    if (const std::int64_t pause = m_plan.pauseBefore(work); pause > 0) sleepUntil(nowNs() + pause);
    const std::int32_t chunk = m_plan.lowered.placement.chunkOf(action.stage);
    m_markers->pushTask(m_markers->taskName(toString(action)),
                        {m_iteration, action.stage, chunk, action.microbatch});
    if (nested) receiveFor(action);
    sleepUntil(m_plan.endOf(work, nowNs()));
    if (nested) finish(order, position + 1);
    m_markers->popTask();
}

// What the printed order has between this task and the next one.
void RankRun::finish(const std::vector<Action>& order, std::size_t position) {
    for (; position < order.size() && !isCompute(order[position].kind); ++position) {
        const Action& action = order[position];
        if (action.kind == ActionKind::ReduceGradient) {
            if (m_plan.dp > 1) carrySync(action, m_iteration);
        } else if (!isReceive(action)) {
            carryNext(action);
        }
    }
}

// What the task needs from another rank, where the engine looks for it only now.
void RankRun::receiveFor(const Action& action) {
    const bool forward = action.kind == ActionKind::Forward;
    const auto& placement = m_plan.lowered.placement;
    const std::int32_t source = action.stage + (forward ? -1 : 1);
    if (source < 0 || source >= placement.stages() || placement.rankOf(source) == m_pp) return;
    const Action receive{action.stage,
                         forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward,
                         action.microbatch,
                         {}};
    if (m_plan.engine == Engine::Ahead || m_plan.engine == Engine::Posted ||
        m_plan.engine == Engine::Stream) {
        m_board.wait(m_arriving.at(toString(receive)));
    } else if (m_plan.engine == Engine::WaitAll || m_plan.engine == Engine::Inline ||
               m_plan.engine == Engine::Nested) {
        carryNext(receive);
    }
}

void RankRun::communicate(const std::vector<Action>& order, std::size_t position) {
    const Action& action = order[position];
    const bool receive = isReceive(action);
    switch (m_plan.engine) {
        case Engine::Ahead:
        case Engine::Posted:
        case Engine::WaitAll:
            if (!receive) post("send " + laneOf(action), action);
            return;
        case Engine::Inline:
        case Engine::Nested:
            if (!receive) carryNext(action);
            return;
        case Engine::Literal:
        case Engine::Blocking:
            return carryNext(action);
        case Engine::Stream: {
            const Channel& channel = channelOf(action);
            const std::int32_t peer = channel.from == m_rank ? channel.to : channel.from;
            const auto ticket = post("peer " + std::to_string(peer), action);
            if (receive) m_arriving[toString(action)] = ticket;
            return;
        }
        case Engine::Batched:
            m_batch.push_back(post((receive ? "recv " : "send ") + laneOf(action), action));
            if (position + 1 < order.size() && isCommunication(order[position + 1].kind)) return;
            for (const Board::Ticket ticket : m_batch) m_board.wait(ticket);
            m_batch.clear();
            return;
    }
}

bool RankRun::computesAndCommunicatesOnOneThread() const {
    return m_plan.engine == Engine::Inline || m_plan.engine == Engine::Literal ||
           m_plan.engine == Engine::Blocking;
}

void RankRun::reduce(const Action& action) {
    if (computesAndCommunicatesOnOneThread()) return carrySync(action, m_iteration);
    post("sync", action);
}

Board::Ticket RankRun::post(const std::string& lane, const Action& action) {
    auto& thread = m_lanes[lane];
    if (!thread) thread = std::make_unique<Lane>(lane, m_board, *m_markers);
    if (action.kind == ActionKind::ReduceGradient)
        return thread->post([this, action, at = m_iteration] { carrySync(action, at); });
    // Posted in the order in which they are carried, so this is their number.
    const std::int64_t sequence = m_sequence.at(channelOf(action).group)++;
    return thread->post([=, this, at = m_iteration] { carry(action, at, sequence); });
}

const Channel& RankRun::channelOf(const Action& action) const {
    const auto& placement = m_plan.lowered.placement;
    const bool forward = isForwardMessage(action), receive = isReceive(action);
    const std::int32_t other = placement.rankOf(action.stage + (forward == receive ? -1 : 1));
    return m_wiring.channel(forward, m_dp, receive ? other : m_pp, receive ? m_pp : other);
}

std::string RankRun::laneOf(const Action& action) const {
    if (m_plan.engine == Engine::Posted) return toString(action);
    const Channel& channel = channelOf(action);
    return std::string(isForwardMessage(action) ? "forward " : "backward ") +
           std::to_string(channel.from) + "->" + std::to_string(channel.to);
}

runtime::payload::TransferPayload RankRun::describe(const Action& action,
                                                    std::int32_t iteration) const {
    runtime::payload::TransferPayload described{};
    described.bytes = m_plan.bytes;
    described.iteration = iteration;
    described.stage = action.stage;
    described.chunk = m_plan.lowered.placement.chunkOf(action.stage);
    described.microbatch = action.microbatch;
    described.peer = -1;
    const bool sync = action.kind == ActionKind::ReduceGradient;
    copyText(described.operation, sync ? "all_reduce" : isReceive(action) ? "recv" : "send");
    copyText(described.dimension, sync ? "dp" : "pp");
    return described;
}

void RankRun::takeInTurn(const Channel& channel, std::int64_t sequence) {
    std::unique_lock lock(m_turnMutex);
    m_turn.wait(lock, [&] { return m_taken[channel.group] == sequence; });
    lock.unlock();
    channel.receive();
    lock.lock();
    ++m_taken[channel.group];
    m_turn.notify_all();
}

void RankRun::carry(const Action& action, std::int32_t iteration, std::int64_t sequence) {
    const Channel& channel = channelOf(action);
    const bool receive = isReceive(action);
    auto described = describe(action, iteration);
    described.group = channel.group;
    described.peer = receive ? channel.from : channel.to;
    described.sequence = sequence;
    m_markers->pushTransfer(m_markers->transferName(toString(action)), described);
    const bool meets = m_plan.engine == Engine::Blocking;
    if (receive) {
        if (meets) channel.sayReady();
        takeInTurn(channel, sequence);
    } else {
        if (meets) channel.awaitReady();
        Work work{"send", m_rank, action.stage, m_dp, action.microbatch, iteration, described.peer};
        sleepUntil(nowNs() + m_plan.durationOf(work));
        channel.send();
    }
    m_markers->popTransfer();
}

void RankRun::carrySync(const Action& action, std::int32_t iteration) {
    auto described = describe(action, iteration);
    described.group = m_wiring.syncGroup(m_pp);
    described.sequence = m_sequence.at(described.group)++;
    m_markers->pushTransfer(m_markers->transferName(toString(action)), described);
    Work work{"sync", m_rank, action.stage, m_dp, -1, iteration};
    sleepUntil(m_wiring.meetingOf(action.stage).meet(m_plan.durationOf(work)));
    m_markers->popTransfer();
}

}  // namespace pleat::test::known
