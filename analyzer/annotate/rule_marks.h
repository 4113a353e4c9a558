// Ranges that a program marks with an instant at their begin and another at their end, by rules
// that say which instant is which. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "annotate/draft.h"
#include "annotate/rule.h"

namespace pleat::annotate {

// An event that a rule fits, with all numbers that are known.
struct RuleMatch {
    const Rule* rule = nullptr;
    trace::EventId event;
    base::Interval span;
    RuleNumbers numbers{};
    bool open = false;  // its end was never seen
};

class RuleMarks {
  public:
    RuleMarks(Draft& draft, std::span<const Rule> rules) : m_draft(draft), m_rules(rules) {}

    void add(const RuleMatch& mark) { m_marks.push_back(mark); }

    // The ranges, by rank and begin. An end closes the last open begin on its rank that means the
    // same (kind and action) and contradicts none of its numbers; what either says is known of
    // both. An iteration also ends where the rank's next begins, and begins where the one before
    // ended. An instant without its other half is counted ("mark_without_partner").
    [[nodiscard]] std::vector<RuleMatch> ranges();

  private:
    class Pairing;

    Draft& m_draft;
    std::span<const Rule> m_rules;
    std::vector<RuleMatch> m_marks;
};

}  // namespace pleat::annotate
