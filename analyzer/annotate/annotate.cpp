#include "annotate/annotate.h"

#include <utility>

#include "annotate/fill_gaps.h"
#include "annotate/marker_reader.h"
#include "annotate/matching.h"
#include "annotate/profiler_reader.h"
#include "annotate/recognition.h"
#include "annotate/timer_reader.h"

namespace pleat::annotate {

base::Result<trace::Trace> annotate(const trace::Trace& events, const Rules& rules) {
    Draft draft = readMarkers(events);
    readTimers(draft);
    readProfiler(draft);
    rules.apply(draft);
    draft.sort();
    fillGaps(draft);
    matchTransfers(draft);
    draft.found.schedule = recogniseSchedule(draft.ranks, draft.found.tasks);
    base::Diagnostics diagnostics = events.diagnostics();
    diagnostics.add(draft.diagnostics);
    return trace::Trace(events.sharedColumns(), std::move(draft.ranks), events.lanes(),
                        std::move(draft.found), std::move(diagnostics));
}

}  // namespace pleat::annotate
