// Arithmetic of sizes that a file claims, whatever they are: a result that does not fit becomes the
// nearest value that does. Pure functions.
#pragma once

#include <cstdint>
#include <limits>

namespace pleat::base {

[[nodiscard]] constexpr std::int64_t saturated(bool negative) {
    return negative ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
}

[[nodiscard]] constexpr std::int64_t saturatingSum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? saturated(b < 0) : sum;
}

[[nodiscard]] constexpr std::int64_t saturatingProduct(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? saturated((a < 0) != (b < 0)) : product;
}

}  // namespace pleat::base
