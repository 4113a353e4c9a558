// Pairs the begin and end records of one process into events: push/pop by a stack per thread and
// domain, start/end by the range's id, which may end on another thread. Pure: it knows nothing of
// files or clocks beyond the times given.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "base/time.h"
#include "collector/ring.h"
#include "trace/model.h"

namespace pleat::collector {

struct MatchedEvent {
    trace::LaneId lane;  // where it began
    std::string_view name, domain;
    trace::EventKind kind = trace::EventKind::Range;
    trace::EventFlag flag = trace::EventFlag::None;
    base::TraceTime start, end;
    std::string arguments;  // a JSON object, or empty
};

// What of an event is known when it begins.
struct EventBegin {
    trace::LaneId lane;
    std::uint16_t domain = 0;
    std::string_view domainName, name;  // live as long as the matcher
    base::TraceTime time;
    std::string arguments;
};

class RangeMatcher {
  public:
    explicit RangeMatcher(std::function<void(MatchedEvent)> emit) : m_emit(std::move(emit)) {}

    void push(EventBegin begin);
    // `more`: members of a JSON object that came with the end, without braces.
    void pop(trace::LaneId lane, std::uint16_t domain, base::TraceTime time,
             std::string_view more = {});
    void start(std::uint64_t range, EventBegin begin);
    // May come before its start: two threads are read one after the other.
    void end(std::uint64_t range, trace::LaneId lane, base::TraceTime time,
             std::string_view more = {});
    void mark(EventBegin mark);
    // Emits what is still open, ending at the last moment known of its lane.
    void finish();
    [[nodiscard]] base::TraceTime lastTime() const { return m_last; }
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }

  private:
    void see(trace::LaneId lane, base::TraceTime time);
    void close(EventBegin begin, base::TraceTime end, trace::EventFlag flag,
               std::string_view more = {});
    struct EarlyEnd {
        base::TraceTime time;
        std::string more;
    };

    std::function<void(MatchedEvent)> m_emit;
    std::unordered_map<std::uint64_t, std::vector<EventBegin>> m_open;  // by lane and domain
    std::unordered_map<std::uint64_t, EventBegin> m_started;            // by range id
    std::unordered_map<std::uint64_t, EarlyEnd> m_ended;  // whose start was not seen yet
    std::unordered_map<trace::LaneId, base::TraceTime> m_lastOfLane;
    base::TraceTime m_last;
    base::Diagnostics m_diagnostics;
};

}  // namespace pleat::collector
