// Sorting what comes in a few sorted stretches, as recorders and readers make it: the events of a
// lane, or the transfers of a rank thread by thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace pleat::base {

// Merges sorted stretches; stable. `begins` holds where each begins, ascending from 0. O(n log m)
// for m stretches.
template <class T, class Before>
void mergeStretches(std::span<T> items, std::vector<std::size_t> begins, Before before) {
    const auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
    begins.push_back(items.size());
    while (begins.size() > 2) {
        std::vector<std::size_t> merged;
        std::size_t i = 0;
        for (; i + 2 < begins.size(); i += 2) {
            std::inplace_merge(at(begins[i]), at(begins[i + 1]), at(begins[i + 2]), before);
            merged.push_back(begins[i]);
        }
        for (; i < begins.size(); ++i) merged.push_back(begins[i]);
        begins = std::move(merged);
    }
}

// Sorts; stable. O(n log m) for items that come in m sorted stretches.
template <class T, class Before>
void sortStretches(std::span<T> items, Before before) {
    std::vector<std::size_t> begins = {0};
    for (std::size_t i = 1; i < items.size(); ++i)
        if (before(items[i], items[i - 1])) begins.push_back(i);
    mergeStretches(items, std::move(begins), before);
}

}  // namespace pleat::base
