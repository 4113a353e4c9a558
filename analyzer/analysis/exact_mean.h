// Means of the parts of a whole that still sum to the whole's mean. Plain division would lose up to
// a nanosecond per part, and a report whose parts do not sum is not believed.
#pragma once

#include <cstdint>
#include <vector>

namespace pleat::analysis {

// Divides each of `sums` (>= 0) by `count` (> 0) so that the results sum to floor(sum of all /
// count): result i is the difference of the floored running sums, hence >= 0 and less than 1 away
// from the true mean.
[[nodiscard]] inline std::vector<std::int64_t> exactMeans(const std::vector<std::int64_t>& sums,
                                                          std::int64_t count) {
    std::vector<std::int64_t> means;
    means.reserve(sums.size());
    std::int64_t running = 0;
    for (const std::int64_t sum : sums) {
        const std::int64_t before = running / count;
        running += sum;
        means.push_back(running / count - before);
    }
    return means;
}

}  // namespace pleat::analysis
