// Schedules by name, compute actions and REDUCE_GRAD only (lower.h adds messages). Sources: GPipe
// (Huang et al. 2019), 1F1B (PipeDream-Flush, Narayanan et al. 2021), interleaved 1F1B
// (Megatron-LM, Narayanan et al. 2021), folded (Fold3D, Li et al. 2023).
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
    std::int32_t chunks = 1;        // v, stages per rank; gpipe and 1f1b need 1
    std::int32_t group = 0;         // interleaved: g, microbatches per group; 0 chooses p
};

[[nodiscard]] std::span<const std::string_view> scheduleNames();  // gpipe 1f1b interleaved folded

// Usage error (one line, with the nearest known name) for an unknown name or options the schedule
// cannot serve. Each chunk's REDUCE_GRAD follows its last backward on its rank.
[[nodiscard]] base::Result<Schedule> makeSchedule(std::string_view name,
                                                  const GeneratorOptions& options);

}  // namespace pleat::schedule
