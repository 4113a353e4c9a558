#include "base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pleat::base {
namespace {

std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string nearestName(std::string_view given, std::span<const std::string_view> known) {
    std::string_view best;
    std::size_t bestDistance = 0;
    for (const std::string_view name : known) {
        const std::size_t distance = editDistance(given, name);
        const bool closeEnough = 2 * distance < std::max(given.size(), name.size()) + 1;
        if (closeEnough && (best.empty() || distance < bestDistance)) {
            best = name;
            bestDistance = distance;
        }
    }
    return std::string(best);
}

}  // namespace pleat::base
