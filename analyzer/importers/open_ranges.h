// Ranges whose beginning and end are events of their own: B and E on a thread's stack, b and e (S
// and F) by id. Files hold them in any order, so they are sorted and paired at the end.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "trace/trace_builder.h"

namespace pleat::importers {

struct HalfRange {
    trace::LaneId lane;
    base::TraceTime time;
    bool begins = true;
    base::StringId name, domain;
    base::StringId id;  // invalid: on the stack of its lane
    std::string arguments;
};

class OpenRanges {
  public:
    explicit OpenRanges(trace::TraceBuilder& builder) : m_builder(builder) {}

    void add(HalfRange half) { m_halves.push_back(std::move(half)); }
    [[nodiscard]] bool any() const { return !m_halves.empty(); }
    // Adds the ranges. An end takes the innermost open range of its name, or the innermost where it
    // has no name; those inside stay open until their own end ("crossing_ranges"). What never ends
    // is open at the last moment of its lane ("open_range"), what never began is counted
    // ("unmatched_end").
    void finish();

  private:
    // What is open on one lane or under one id, and where each name's are. Closed ones stay until
    // they are on top, so that nothing is searched or moved.
    struct Open {
        std::vector<HalfRange> stack;
        std::vector<bool> closed;
        std::unordered_map<base::StringId, std::vector<std::size_t>> ofName;  // open, ascending
    };
    void end(Open& open, const HalfRange& half);
    void emit(const HalfRange& begin, base::TraceTime end, std::string_view more,
              trace::EventFlag flag);

    trace::TraceBuilder& m_builder;
    std::vector<HalfRange> m_halves;
};

}  // namespace pleat::importers
