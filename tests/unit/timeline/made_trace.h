// Small traces for tests of the timeline: events written as one line each, and random ones.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "trace/trace_builder.h"

namespace pleat::timeline {

struct MadeEvent {
    std::int64_t begin = 0, end = 0;
    std::string name = "event";
    std::string domain = {};
    trace::EventKind kind = trace::EventKind::Range;
};

class MadeTrace {
  public:
    trace::RankId addRank(std::int32_t number) {
        trace::Rank rank;
        rank.number = number;
        return builder.addRank(rank);
    }
    trace::LaneId addLane(trace::RankId rank, const std::vector<MadeEvent>& events,
                          trace::LaneKind kind = trace::LaneKind::HostThread,
                          const std::string& name = {}) {
        const trace::LaneId lane = builder.addLane({rank, kind, ++m_lanes, name});
        for (const MadeEvent& event : events) add(lane, event);
        return lane;
    }
    // Its number in order of adding, for dependencies.
    std::size_t add(trace::LaneId lane, const MadeEvent& event) {
        builder.addEvent({lane,
                          builder.intern(event.name),
                          event.domain.empty() ? base::StringId() : builder.intern(event.domain),
                          event.kind,
                          trace::EventFlag::None,
                          {{event.begin}, {event.end}}});
        return builder.eventCount() - 1;
    }
    std::shared_ptr<const trace::Trace> build() {
        return std::make_shared<const trace::Trace>(std::move(builder).build().trace);
    }
    trace::TraceBuilder builder;

  private:
    std::int64_t m_lanes = 0;
};

// One rank with one lane.
inline std::shared_ptr<const trace::Trace> oneLane(const std::vector<MadeEvent>& events) {
    MadeTrace made;
    made.addLane(made.addRank(0), events);
    return made.build();
}

enum class Shape : std::uint8_t { Successive, Nested, Crossing };

// Events within about 10 000 ns, some without length, some of them marks, and some moments with
// many events.
inline std::vector<MadeEvent> randomEvents(Shape shape, std::size_t count, std::mt19937& random) {
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
    };
    std::vector<MadeEvent> events;
    const std::int64_t whole = 10'000;
    std::int64_t time = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t length = below(4) == 0 ? 0 : below(below(8) == 0 ? 900 : 40);
        std::int64_t begin = below(whole);
        if (shape == Shape::Successive) {
            begin = time + (below(3) == 0 ? below(200) : 0);
            time = begin + length;
        } else if (shape == Shape::Nested && !events.empty() && below(3) != 0) {
            const MadeEvent& outer =
                events[static_cast<std::size_t>(below(static_cast<std::int64_t>(events.size())))];
            begin = outer.begin + below(outer.end - outer.begin + 1);
            length = below(outer.end - begin + 1);
        }
        events.push_back(
            {begin,
             begin + length,
             "event",
             {},
             length == 0 && below(2) == 0 ? trace::EventKind::Mark : trace::EventKind::Range});
    }
    return events;
}

}  // namespace pleat::timeline
