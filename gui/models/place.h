// A place in a trace that a view can be asked to show: what a click on a figure means. Plain data.
#pragma once

#include <cstdint>
#include <optional>

#include "base/interval_set.h"
#include "trace/model.h"

namespace pleat::models {

// What is not set is not asked for.
struct Place {
    std::optional<base::Interval> range;  // show these times
    trace::EventId event;                 // select this event
    std::int32_t rank = -1;               // number; bring it into view
    std::int32_t iteration = -1;          // its pipeline, its window

    [[nodiscard]] bool empty() const {
        return !range && !event.valid() && rank < 0 && iteration < 0;
    }
    friend bool operator==(const Place&, const Place&) = default;
};

}  // namespace pleat::models
