// A schedule: for every pipeline rank the ordered list of actions it runs in one iteration, and
// where the stages lie. Plain data; generators.h makes them, validate.h judges them, schedule_csv.h
// reads and writes them, lower.h inserts the communication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/action.h"
#include "schedule/placement.h"

namespace pleat::schedule {

struct Schedule {
    std::string name;  // of its family (family.h), or the file's name
    Placement placement;
    std::int32_t microbatches = 0;
    std::int32_t group = 0;  // interleaved: microbatches per group; 0 where it has no meaning
    std::vector<std::vector<Action>> order;  // [pipeline rank][position]

    [[nodiscard]] std::int32_t ranks() const { return placement.ranks(); }
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace pleat::schedule
