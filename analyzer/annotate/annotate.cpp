#include "annotate/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "annotate/clock_alignment.h"
#include "annotate/counted_tasks.h"
#include "annotate/device_times.h"
#include "annotate/fill_gaps.h"
#include "annotate/fill_iterations.h"
#include "annotate/foreign_actions.h"
#include "annotate/framework_rules.h"
#include "annotate/inferred_tasks.h"
#include "annotate/iteration_levels.h"
#include "annotate/marker_reader.h"
#include "annotate/matching.h"
#include "annotate/message_names.h"
#include "annotate/order_numbers.h"
#include "annotate/profiler_reader.h"
#include "annotate/recognition.h"
#include "annotate/timer_reader.h"
#include "base/say.h"
#include "trace/annotation_gate.h"

namespace pleat::annotate {

namespace {

// One action cannot run twice at once: the file holds its events twice.
void noteRepeatedTasks(Draft& draft) {
    const auto& tasks = draft.found.tasks;
    for (std::size_t i = 1; i < tasks.size(); ++i) {
        const trace::Task& task = tasks[trace::TaskId::at(i)];
        const trace::Task& before = tasks[trace::TaskId::at(i - 1)];
        if (task.rank != before.rank || task.span != before.span || task.kind != before.kind ||
            task.stage != before.stage || task.microbatch != before.microbatch)
            continue;
        draft.diagnostics.add(
            "task_twice",
            fmt::format("\"{}\" of rank {} appears twice in the trace, from {} to {} ns",
                        base::printable(draft.events.name(task.event), 80),
                        draft.ranks[task.rank].number, task.span.begin.ns, task.span.end.ns));
    }
}

// Tasks that were made from a schedule equal it; how well the messages fit is what was measured.
void addInferred(const InferredSchedule& inferred, trace::RecognisedSchedule& schedule) {
    schedule.confidence *= inferred.confidence;
    for (const std::string& other : inferred.also) {
        const auto known = std::find(schedule.also.begin(), schedule.also.end(), other);
        if (other != schedule.name && known == schedule.also.end()) schedule.also.push_back(other);
    }
}

}  // namespace

base::Result<trace::Trace> annotate(const trace::Trace& events, const Rules& rules) {
    Draft draft = readMarkers(events);
    readTimers(draft);
    readProfiler(draft);
    rules.apply(draft);
    readForeignActions(draft);
    const auto known = Rules::parse(kFrameworkRules, "framework_rules.json");
    if (!known) return known.error();
    known->applyToUnknown(draft);
    std::sort(draft.frameworkTransfers.begin(), draft.frameworkTransfers.end());
    std::sort(draft.transferBatches.begin(), draft.transferBatches.end());
    keepOutermostIterations(draft);
    // What follows sizes tables by these numbers.
    trace::AnnotationGate(events.columns(), draft.ranks, draft.diagnostics).limit(draft.found);
    draft.shareAmongDevices();
    giveTransfersToKernels(draft);
    draft.sort();
    numberCollectives(draft);
    fillIterations(draft);
    takeDeviceTimes(draft);
    draft.sort();
    nameCountedTasks(draft);
    nameCountedMessages(draft);
    InferredSchedule inferred{1, {}};
    if (draft.found.tasks.empty()) inferred = inferTasks(draft);
    draft.stagesUnknown = draft.stagesUnknown || isStageUnknown(draft);
    fillGaps(draft);
    noteRepeatedTasks(draft);
    matchTransfers(draft);
    nameMatchedMessages(draft);
    draft.found.schedule = recogniseSchedule(draft);
    if (draft.found.schedule) addInferred(inferred, *draft.found.schedule);
    base::Diagnostics diagnostics = events.diagnostics();
    diagnostics.add(draft.diagnostics);
    return trace::Trace::annotated(events.sharedColumns(), std::move(draft.ranks), events.lanes(),
                                   std::move(draft.found), std::move(diagnostics));
}

base::Result<trace::Trace> annotateOnOneClock(trace::Trace events, const Rules& rules) {
    std::optional<ClockAlignment> alignment;
    base::Diagnostics said;
    {
        base::Result<trace::Trace> annotated = annotate(events, rules);
        if (!annotated) return annotated;
        alignment = alignClocks(*annotated);
        said = saidOfClocks(*annotated, alignment);
        if (!alignment) return std::move(*annotated).withDiagnostics(said);
        if (!alignment->corrects()) {
            return withClocks(std::move(*annotated), *alignment).withDiagnostics(said);
        }
    }
    base::Result<trace::Trace> aligned =
        annotate(withCorrectedClocks(std::move(events), *alignment), rules);
    if (!aligned) return aligned;
    return withClocks(std::move(*aligned), *alignment).withDiagnostics(said);
}

}  // namespace pleat::annotate
