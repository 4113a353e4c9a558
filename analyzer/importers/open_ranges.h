// Ranges whose beginning and end are events of their own: B and E on a thread's stack, b and e (S
// and F) by id. Files hold them in any order, so they are sorted and paired at the end.
#pragma once

#include <cstdint>
#include <optional>
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
    // has no name; those inside stay open until their own end ("crossing_ranges"). One of a name
    // that is not open ends the innermost, as the format pairs them by nesting
    // ("end_of_other_name"), unless that one's own end still comes: then its begin is lost
    // ("unmatched_end"). What never ends is open at the last moment of its lane ("open_range").
    void finish();

  private:
    // What is open on one lane or under one id, and where each name's are. Closed ones stay until
    // they are on top, so that nothing is searched or moved.
    struct Open {
        std::vector<HalfRange> stack;
        std::vector<bool> closed;
        std::unordered_map<base::StringId, std::vector<std::size_t>> ofName;  // open, ascending
        std::unordered_map<base::StringId, std::int64_t> endsMissing;  // begins of it less its ends
    };
    // The open range that an end closes; nothing where it closes none.
    [[nodiscard]] std::optional<std::size_t> endedBy(Open& open, const HalfRange& half);
    void end(Open& open, const HalfRange& half);
    std::size_t pairGroup(std::size_t first);
    void emit(const HalfRange& begin, base::TraceTime end, std::string_view more,
              trace::EventFlag flag);

    trace::TraceBuilder& m_builder;
    std::vector<HalfRange> m_halves;
};

}  // namespace pleat::importers
