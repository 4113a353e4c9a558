// What coarse timers say of themselves: step, model chunk, microbatch and sequence. A field that is
// null, of another type or out of range costs that field only: it is worked out from the rank's
// other timers, and counted ("field_unreadable"). One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "annotate/draft.h"
#include "trace/timers.h"

namespace pleat::annotate {

struct TimerFields {
    trace::EventId event;
    const trace::Timer* timer = nullptr;
    trace::RankId rank;
    base::Interval span;
    std::int32_t step = -1;
    std::int32_t chunk = -1;       // -1 only in tasks of which nothing says it
    std::int32_t microbatch = -1;  // of tasks; -1 where nothing says it
    std::optional<std::int64_t> sequence;
};

// In the order of events; nothing where no timer says its step. A lost step is that of the rank's
// timer before or after, whichever is nearer. Of a step's tasks of one kind, in the order of
// their sequence numbers, one without microbatch takes the lowest that no other has; likewise the
// chunk, where the microbatch is known.
[[nodiscard]] std::vector<TimerFields> readTimerFields(Draft& draft);

}  // namespace pleat::annotate
