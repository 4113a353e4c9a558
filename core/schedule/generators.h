// Schedules by name, compute actions and REDUCE_GRAD only (lower.h adds messages). family.h has the
// table of names, limits, closed forms and sources.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "schedule/schedule.h"

namespace pleat::schedule {

struct GeneratorOptions {
    std::int32_t ranks = 1;         // p, pipeline ranks
    std::int32_t microbatches = 1;  // M
    std::int32_t chunks = 1;        // v, stages per rank
    std::int32_t group = 0;         // interleaved: g, microbatches per group; 0 chooses p
};

[[nodiscard]] std::span<const std::string_view> scheduleNames();  // of family.h, in its order

// Usage error (one line, with the nearest known name) for an unknown name or options the schedule
// cannot serve. Each chunk's REDUCE_GRAD follows its last backward on its rank.
[[nodiscard]] base::Result<Schedule> makeSchedule(std::string_view name,
                                                  const GeneratorOptions& options);

}  // namespace pleat::schedule
