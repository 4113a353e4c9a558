#include "annotate/counted_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "annotate/pipeline_chain.h"
#include "base/say.h"

namespace pleat::annotate {
namespace {

using schedule::ActionKind;

bool isCounted(const trace::Task& task) { return task.microbatch < 0 || task.stage < 0; }

class CountedTasks {
  public:
    explicit CountedTasks(Draft& draft) : m_draft(draft), m_places(pipelineChains(draft)) {
        m_pipelined = std::any_of(m_places.begin(), m_places.end(),
                                  [](const PipelinePlace& place) { return place.stage >= 0; });
    }

    void run() {
        base::IdVector<trace::TaskTag, trace::Task> kept;
        for (trace::Task& task : m_draft.found.tasks) {
            if (!isCounted(task) || (!isNested(task) && complete(task))) kept.push(task);
        }
        m_draft.found.tasks = std::move(kept);
    }

  private:
    bool isNested(const trace::Task& task) {
        const trace::Event event = m_draft.events.event(task.event);
        if (event.kind == trace::EventKind::Mark) return false;
        const auto [outer, isFirst] =
            m_outer.try_emplace(std::tuple(event.lane, task.kind), event.span);
        if (isFirst) return false;
        if (event.span.begin >= outer->second.begin && event.span.end <= outer->second.end)
            return true;
        outer->second = event.span;
        return false;
    }

    bool complete(trace::Task& task) {
        if (task.stage < 0) {
            task.stage = stageOf(task.rank);
            if (task.stage == 0 && !m_pipelined && m_draft.ranks[task.rank].coordinates.pp < 0)
                m_draft.stagesUnknown = true;
        }
        if (task.stage < 0) {
            m_draft.diagnostics.add("task_without_stage", [&] {
                return fmt::format(
                    "\"{}\" of rank {}: neither its name nor the rank's messages give its "
                    "stage; skipped",
                    base::printable(m_draft.events.name(task.event), 80),
                    m_draft.ranks[task.rank].number);
            });
            return false;
        }
        task.iteration = std::max(task.iteration, 0);
        if (task.microbatch < 0)
            task.microbatch = m_next[{task.rank, task.iteration, task.stage, task.kind}]++;
        m_draft.diagnostics.add("fields_guessed", [&] {
            return fmt::format("\"{}\": microbatches were counted",
                               base::printable(m_draft.events.name(task.event), 80));
        });
        return true;
    }

    [[nodiscard]] std::int32_t stageOf(trace::RankId rank) const {
        if (m_draft.ranks[rank].coordinates.pp >= 0) return m_draft.ranks[rank].coordinates.pp;
        return m_pipelined ? m_places[rank].stage : 0;
    }

    Draft& m_draft;
    const base::IdVector<trace::RankTag, PipelinePlace> m_places;
    bool m_pipelined = false;
    std::map<std::tuple<trace::LaneId, schedule::ActionKind>, base::Interval> m_outer;
    std::map<std::tuple<trace::RankId, std::int32_t, std::int32_t, schedule::ActionKind>,
             std::int32_t>
        m_next;
};

// Messages of one kind and the tasks that they belong to, of one rank's iteration; either ordered
// by begin.
struct MessagesOfTasks {
    std::vector<trace::Transfer*> messages;
    std::vector<const trace::Task*> tasks;
};

bool isForwardMessage(ActionKind kind) {
    return kind == ActionKind::SendForward || kind == ActionKind::ReceiveForward;
}

// A first stage has nobody before it, a last one nobody behind.
bool hasMessage(std::int32_t stage, std::int32_t stages, ActionKind message) {
    const bool onwards =
        message == ActionKind::SendForward || message == ActionKind::ReceiveBackward;
    return onwards ? stage + 1 < stages : stage > 0;
}

}  // namespace

void nameCountedMessages(Draft& draft) {
    using Key = std::tuple<trace::RankId, std::int32_t, ActionKind>;
    std::map<Key, MessagesOfTasks> groups;
    for (trace::Transfer& transfer : draft.found.transfers) {
        const bool lacks = transfer.action && isCommunication(*transfer.action) &&
                           transfer.microbatch < 0 && transfer.iteration >= 0;
        if (lacks)
            groups[{transfer.rank, transfer.iteration, *transfer.action}].messages.push_back(
                &transfer);
    }
    if (groups.empty()) return;
    std::int32_t stages = 0;
    for (const trace::Task& task : draft.found.tasks) stages = std::max(stages, task.stage + 1);
    constexpr std::array kMessages = {ActionKind::SendForward, ActionKind::ReceiveForward,
                                      ActionKind::SendBackward, ActionKind::ReceiveBackward};
    for (const trace::Task& task : draft.found.tasks) {
        const bool forward = task.kind == ActionKind::Forward;
        if (!forward && task.kind != ActionKind::FullBackward &&
            task.kind != ActionKind::InputBackward)
            continue;
        for (const ActionKind message : kMessages) {
            if (isForwardMessage(message) != forward || !hasMessage(task.stage, stages, message))
                continue;
            const auto group = groups.find({task.rank, task.iteration, message});
            if (group != groups.end()) group->second.tasks.push_back(&task);
        }
    }
    for (auto& [key, group] : groups) {
        if (group.messages.size() != group.tasks.size()) continue;  // which ones, nothing tells
        for (std::size_t i = 0; i < group.messages.size(); ++i) {
            trace::Transfer& message = *group.messages[i];
            const trace::Task& task = *group.tasks[i];
            if (message.stage >= 0 && message.stage != task.stage) continue;
            message.stage = task.stage;
            message.chunk = task.chunk;
            message.microbatch = task.microbatch;
        }
        draft.diagnostics.add(
            "fields_guessed",
            "a message does not give its microbatch; derived from the order of tasks",
            static_cast<std::int64_t>(group.messages.size()));
    }
}

void nameCountedTasks(Draft& draft) {
    if (std::any_of(draft.found.tasks.begin(), draft.found.tasks.end(), isCounted))
        CountedTasks(draft).run();
}

}  // namespace pleat::annotate
