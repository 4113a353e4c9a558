#include "annotate/counted_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "annotate/pipeline_chain.h"
#include "base/say.h"

namespace pleat::annotate {
namespace {

using base::Severity;

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
        const auto [outer, isFirst] =
            m_outer.try_emplace(std::tuple(event.lane, task.kind), event.span);
        if (isFirst) return false;
        if (event.span.begin >= outer->second.begin && event.span.end <= outer->second.end)
            return true;
        outer->second = event.span;
        return false;
    }

    bool complete(trace::Task& task) {
        if (task.stage < 0) task.stage = stageOf(task.rank);
        if (task.stage < 0) {
            m_draft.diagnostics.add(
                Severity::DataLoss, "task_without_stage",
                fmt::format("\"{}\" of rank {}: neither its name nor the rank's messages say which "
                            "stage it is; left out",
                            base::printable(m_draft.events.name(task.event), 80),
                            m_draft.ranks[task.rank].number));
            return false;
        }
        task.iteration = std::max(task.iteration, 0);
        if (task.microbatch < 0)
            task.microbatch = m_next[{task.rank, task.iteration, task.stage, task.kind}]++;
        m_draft.diagnostics.add(Severity::Info, "fields_guessed",
                                fmt::format("\"{}\": microbatches were counted",
                                            base::printable(m_draft.events.name(task.event), 80)));
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

}  // namespace

void nameCountedTasks(Draft& draft) {
    if (std::any_of(draft.found.tasks.begin(), draft.found.tasks.end(), isCounted))
        CountedTasks(draft).run();
}

}  // namespace pleat::annotate
