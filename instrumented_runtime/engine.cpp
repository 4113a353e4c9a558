#include "instrumented_runtime/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "schedule/gradient_sync.h"

namespace pleat::runtime {

using schedule::Action;
using schedule::ActionKind;

namespace {

std::string threadName(const Group& group, std::int32_t rank, const Layout& layout) {
    if (group.kind == GroupKind::DataParallel) return "sync dp";
    if (group.kind == GroupKind::TiedEmbedding) return "sync tied embedding";
    return fmt::format("{} pp {}->{} {}", group.members[0] == rank ? "send" : "recv",
                       layout.coordinatesOf(group.members[0]).pp,
                       layout.coordinatesOf(group.members[1]).pp,
                       group.kind == GroupKind::ForwardLink ? "forward" : "backward");
}

}  // namespace

base::Result<void> checkRunnable(const schedule::Schedule& schedule) {
    for (const auto& order : schedule.order) {
        for (const Action& action : order) {
            if (action.kind == ActionKind::InputBackward ||
                action.kind == ActionKind::WeightBackward ||
                action.kind == ActionKind::OverlapForwardBackward) {
                return base::Error{
                    base::ErrorCode::Unsupported,
                    fmt::format("schedule {} holds {}, but pleat-train supports only whole "
                                "backwards (B); use a schedule without I, W and OVERLAP_F_B",
                                schedule.name, toString(action))};
            }
        }
    }
    return {};
}

Engine::Engine(Setup setup, Markers& markers)
    : m_setup(std::move(setup)),
      m_at(m_setup.layout.coordinatesOf(m_setup.rank)),
      m_markers(markers) {}

base::Result<std::unique_ptr<Engine>> Engine::create(Setup setup, Transport& transport,
                                                     Markers& markers) {
    std::unique_ptr<Engine> engine(new Engine(std::move(setup), markers));
    if (auto joined = engine->joinGroups(transport); !joined) return joined.error();
    engine->buildSteps();
    return engine;
}

base::Result<void> Engine::joinGroups(Transport& transport) {
    const Layout& layout = m_setup.layout;
    for (const Group& group : layout.groups(m_setup.schedule.placement, m_setup.tiedHead)) {
        if (!group.indexOf(m_setup.rank)) continue;
        auto channel = transport.join(group);
        if (!channel) return channel.error();
        payload::ProcessGroupPayload announced{
            group.id, static_cast<std::int32_t>(group.members.size()), {}};
        std::strncpy(announced.dimension, group.dimension(), sizeof(announced.dimension) - 1);
        m_markers.announceGroup(announced);
        TransferThread::Setup setup{threadName(group, m_setup.rank, layout), group, m_setup.rank,
                                    std::move(*channel), m_setup.limit};
        m_threads.push_back(std::make_unique<TransferThread>(std::move(setup), m_markers, m_board));
        TransferThread* thread = m_threads.back().get();
        if (group.kind == GroupKind::DataParallel) {
            m_dataParallel = thread;
        } else if (group.kind == GroupKind::TiedEmbedding) {
            m_tied = thread;
        } else {
            m_links[{group.kind, layout.coordinatesOf(group.members[0]).pp,
                     layout.coordinatesOf(group.members[1]).pp}] = thread;
        }
    }
    return {};
}

void Engine::buildSteps() {
    for (const Action& action :
         schedule::withGradientSync(m_setup.schedule.order[static_cast<std::size_t>(m_at.pp)])) {
        m_steps.push_back(makeStep(action));
    }
}

Engine::Step Engine::makeStep(const Action& action) {
    Step step{action, nullptr, m_setup.schedule.placement.chunkOf(action.stage), nullptr};
    if (isCompute(action.kind)) {
        step.name = m_markers.taskName(toString(action));
    } else {
        step.name = m_markers.transferName(toString(action));
        step.thread = action.kind == ActionKind::ReduceGradient ? m_dataParallel : linkOf(action);
    }
    return step;
}

TransferThread* Engine::linkOf(const Action& action) {
    const std::int32_t stage = action.stage;
    LinkKey key;
    switch (action.kind) {
        case ActionKind::SendForward:
            key = {GroupKind::ForwardLink, m_at.pp, rankOf(stage + 1)};
            break;
        case ActionKind::ReceiveForward:
            key = {GroupKind::ForwardLink, rankOf(stage - 1), m_at.pp};
            break;
        case ActionKind::SendBackward:
            key = {GroupKind::BackwardLink, m_at.pp, rankOf(stage - 1)};
            break;
        case ActionKind::ReceiveBackward:
            key = {GroupKind::BackwardLink, rankOf(stage + 1), m_at.pp};
            break;
        default:
            return nullptr;  // UNSHARD, RESHARD: nothing is sharded
    }
    return m_links.at(key);
}

base::Result<void> Engine::run(std::int32_t iteration) {
    postReceives(iteration);
    if (auto result = runSteps(iteration); !result) return result;
    if (auto result = waitForPending(); !result) return result;
    return syncTied(iteration);
}

base::Result<void> Engine::runSteps(std::int32_t iteration) {
    for (const Step& step : m_steps) {
        if (auto result = runStep(step, iteration); !result) return result;
    }
    return {};
}

// All of the iteration at once: a link's thread takes them up one after the other, so compute never
// delays a message. Their memory is that of the activations the schedule keeps anyway.
void Engine::postReceives(std::int32_t iteration) {
    const std::size_t size = m_setup.stages.front()->messageSize();
    for (const Step& step : m_steps) {
        const bool forward = step.action.kind == ActionKind::ReceiveForward;
        if (!forward && step.action.kind != ActionKind::ReceiveBackward) continue;
        Inbox& inbox = forward ? m_activations : m_gradients;
        inbox.arriving[{step.action.stage, step.action.microbatch}] =
            step.thread->post({step.name, TransferOperation::Receive, iteration, step.action.stage,
                               step.chunk, step.action.microbatch, makeBuffer(size)});
    }
}

base::Result<void> Engine::runStep(const Step& step, std::int32_t iteration) {
    switch (step.action.kind) {
        case ActionKind::Forward:
        case ActionKind::FullBackward:
            return compute(step, iteration);
        case ActionKind::SendForward:
        case ActionKind::SendBackward:
            postSend(step, iteration);
            return {};
        case ActionKind::ReduceGradient:
            postSync(step, iteration);
            return {};
        default:
            return {};  // receives are posted already; checkRunnable keeps the others out
    }
}

base::Result<void> Engine::compute(const Step& step, std::int32_t iteration) {
    const Action& action = step.action;
    const bool forward = action.kind == ActionKind::Forward;
    const bool fed =
        forward ? action.stage > 0 : action.stage + 1 < m_setup.schedule.placement.stages();
    Buffer message;
    if (fed) {
        auto taken =
            takeMessage(forward ? m_activations : m_gradients, {action.stage, action.microbatch});
        if (!taken) return taken.error();
        message = std::move(*taken);
    }
    Stage& stage = *m_setup.stages[static_cast<std::size_t>(step.chunk)];
    m_markers.pushTask(step.name, {iteration, action.stage, step.chunk, action.microbatch});
    base::Result<Buffer> result = forward ? stage.forward(action.microbatch, message)
                                          : stage.backward(action.microbatch, message);
    m_markers.popTask();
    if (!result) return result.error();
    handOver(action, std::move(*result));
    return {};
}

base::Result<Buffer> Engine::takeMessage(Inbox& inbox, MessageKey key) {
    if (auto local = inbox.local.extract(key)) return std::move(local.mapped());
    auto arriving = inbox.arriving.extract(key);
    assert(arriving);  // the schedule is validated: what a compute action needs was posted
    if (auto waited = m_board.wait(*arriving.mapped()); !waited) return waited.error();
    return std::move(arriving.mapped()->received);
}

// To the next stage on this rank, or to the SEND that follows.
void Engine::handOver(const Action& action, Buffer result) {
    const bool forward = action.kind == ActionKind::Forward;
    const std::int32_t next = action.stage + (forward ? 1 : -1);
    if (next < 0 || next >= m_setup.schedule.placement.stages()) return;
    if (rankOf(next) == m_at.pp) {
        (forward ? m_activations : m_gradients).local[{next, action.microbatch}] =
            std::move(result);
    } else {
        (forward ? m_forwardResults : m_backwardResults)[{action.stage, action.microbatch}] =
            std::move(result);
    }
}

void Engine::postSend(const Step& step, std::int32_t iteration) {
    const Action& action = step.action;
    auto& results = action.kind == ActionKind::SendForward ? m_forwardResults : m_backwardResults;
    auto result = results.extract({action.stage, action.microbatch});
    assert(result);  // validated: the SEND follows the action that made it
    m_pending.push_back(
        step.thread->post({step.name, TransferOperation::Send, iteration, action.stage, step.chunk,
                           action.microbatch, std::move(result.mapped())}));
}

void Engine::postSync(const Step& step, std::int32_t iteration) {
    if (step.thread == nullptr) return;  // one replica
    m_pending.push_back(step.thread->post(
        {step.name, TransferOperation::AllReduce, iteration, step.action.stage, step.chunk, -1,
         m_setup.stages[static_cast<std::size_t>(step.chunk)]->gradients()}));
}

base::Result<void> Engine::waitForPending() {
    for (const TransferHandle& transfer : m_pending) {
        if (auto waited = m_board.wait(*transfer); !waited) return waited;
    }
    m_pending.clear();
    return {};
}

// Both copies of a tied matrix get the sum of both gradients, after these were summed over the
// replicas.
base::Result<void> Engine::syncTied(std::int32_t iteration) {
    if (!m_setup.tiedHead || m_setup.schedule.placement.stages() == 1) return {};
    std::vector<Buffer> copies;
    for (const auto& stage : m_setup.stages) {
        if (Buffer gradient = stage->tiedGradient(); !gradient.empty()) copies.push_back(gradient);
    }
    if (copies.size() == 2) {  // first and last stage are both here
        for (std::size_t i = 0; i < copies[0].size; ++i) {
            copies[0].data[i] = copies[1].data[i] = copies[0].data[i] + copies[1].data[i];
        }
    } else if (copies.size() == 1) {
        m_pending.push_back(
            m_tied->post({m_markers.transferName("all_reduce"), TransferOperation::AllReduce,
                          iteration, -1, -1, -1, copies[0]}));
    }
    return waitForPending();
}

}  // namespace pleat::runtime
