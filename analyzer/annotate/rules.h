// Rules of the user's own: what the names of a program's events mean, where no reader of ours knows
// them. A JSON file of patterns (PCRE) whose named groups give stage, microbatch and so on
// (docs/importing.md).
#pragma once

#include <string_view>
#include <vector>

#include "annotate/draft.h"
#include "base/result.h"

namespace pleat::annotate {

struct Rule;

class Rules {
  public:
    Rules();
    ~Rules();
    Rules(Rules&&) noexcept;
    Rules& operator=(Rules&&) noexcept;

    // Input error naming the rule by its number and what is wrong with it; `name` is the file's.
    [[nodiscard]] static base::Result<Rules> parse(std::string_view json, std::string_view name);

    // Adds what the rules say of the draft's events. Events that fit and lack what their kind needs
    // are counted ("rule_incomplete"), as are rules of which no event name matches ("rule_unused")
    // and names that a pattern could not be tried on ("rule_too_slow").
    void apply(Draft& draft) const;

    // The same with the built-in rules for frameworks: unused rules are not reported, and events
    // that already have a meaning keep it. Once tasks are known, only messages are added, and
    // iterations if there are none yet.
    void applyToUnknown(Draft& draft) const;

  private:
    std::vector<Rule> m_rules;
};

}  // namespace pleat::annotate
