// Which clocks a trace's times were read from, and what the communication between them says: the
// raw material of clock_alignment.h. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/id.h"
#include "trace/trace.h"

namespace pleat::annotate {

using ClockId = base::Id<struct ClockTag>;

// What two clocks' own times say of one another.
struct ClockEvidence {
    struct Moment {
        std::int64_t first = 0, second = 0;  // own times of it
    };
    struct Message {
        std::int64_t sent = 0, arrived = 0;
        bool fromFirst = false;
    };
    std::vector<Moment> moments;
    std::vector<Message> messages;
};

struct Clocks {
    base::IdVector<trace::RankTag, ClockId> of;
    struct Clock {
        trace::RankId firstRank;
        bool utc = false;  // every rank's times are related to UTC
    };
    base::IdVector<ClockTag, Clock> clocks;
    std::map<std::pair<ClockId, ClockId>, ClockEvidence> evidence;  // the lower id first
    base::Diagnostics diagnostics;
};

// One clock for ranks that say so (trace::ClockReading::clock); one for each of their recordings
// where collectives that end together show that they are apart ("clock_not_shared").
[[nodiscard]] Clocks gatherClocks(const trace::Trace& annotated);

}  // namespace pleat::annotate
