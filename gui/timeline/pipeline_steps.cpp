#include "timeline/pipeline_steps.h"

#include <algorithm>
#include <cstdlib>

namespace pleat::timeline {
namespace {

using Kind = PipelineHit::Kind;

// Of the row's tasks the one that begins nearest to a moment.
std::optional<std::size_t> nearestIn(const PipelineScene& scene, std::uint32_t row,
                                     base::TraceTime begin) {
    std::optional<std::size_t> best;
    std::int64_t nearest = 0;
    for (std::size_t i = 0; i < scene.tasks.size(); ++i) {
        if (scene.tasks[i].row != row) continue;
        const std::int64_t distance = std::abs((scene.tasks[i].span.begin - begin).ns);
        if (best && distance >= nearest) continue;
        nearest = distance;
        best = i;
    }
    return best;
}

template <class Items, class Same>
std::optional<PipelineHit> found(Kind kind, const Items& items, Same same) {
    const auto at = std::find_if(items.begin(), items.end(), same);
    if (at == items.end()) return std::nullopt;
    return PipelineHit{kind, static_cast<std::size_t>(at - items.begin())};
}

}  // namespace

std::size_t steppedFrom(const PipelineScene& scene, const std::optional<PipelineHit>& selection,
                        PipelineStep step) {
    if (!selection || selection->kind != Kind::Task) return 0;
    const std::size_t at = selection->index;
    const PipelineTask& now = scene.tasks[at];
    if (step == PipelineStep::Above)
        return now.row == 0 ? at : nearestIn(scene, now.row - 1, now.span.begin).value_or(at);
    if (step == PipelineStep::Below)
        return nearestIn(scene, now.row + 1, now.span.begin).value_or(at);
    const std::size_t next = step == PipelineStep::Later ? at + 1 : at - 1;
    return next < scene.tasks.size() && scene.tasks[next].row == now.row ? next : at;
}

std::optional<PipelineHit> sameIn(const PipelineScene& other, const PipelineScene& scene,
                                  const PipelineHit& selection) {
    if (selection.kind == Kind::Task) {
        const PipelineTask& task = scene.tasks[selection.index];
        return found(Kind::Task, other.tasks, [&](const PipelineTask& one) {
            return one.event == task.event && one.span == task.span && one.stage == task.stage &&
                   one.microbatch == task.microbatch;
        });
    }
    if (selection.kind == Kind::Ghost) return std::nullopt;
    const PipelineGap& gap = scene.gaps[selection.index];
    return found(Kind::Gap, other.gaps, [&](const PipelineGap& one) {
        return one.gap == gap.gap && one.span == gap.span;
    });
}

}  // namespace pleat::timeline
