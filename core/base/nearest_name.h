// "Did you mean …?" for options, schedule names and the like.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pleat::base {

// The known name with the smallest edit distance (Levenshtein) to `given`, the first of equals;
// empty when none is closer than half of the longer length, for then a suggestion would only
// confuse.
[[nodiscard]] std::string nearestName(std::string_view given,
                                      std::span<const std::string_view> known);

}  // namespace pleat::base
