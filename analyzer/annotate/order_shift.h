// Two ranks' communications of one group that carry no number, each in its own order: where the
// one's recording began a few later than the other's, their n-th are not the same. Members of one
// communication end together, so under the right shift the ends differ by the same time throughout
// (by none on one clock), and under a wrong one they do not. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pleat::annotate {

struct OrderedPart {
    std::int64_t kind = 0;  // parts of one communication have the same
    std::int64_t endNs = 0;
};

// `other`'s part k belongs to `reference`'s part k + shift.
struct OrderShift {
    std::ptrdiff_t shift = 0;
    bool sure = true;  // false: another shift explains the ends as well
};

// The shift under which all kinds agree and the ends do best; 0 unless another is plainly better.
// Nothing where the kinds agree under none. At least half of the shorter list stays paired.
[[nodiscard]] std::optional<OrderShift> findShift(std::span<const OrderedPart> reference,
                                                  std::span<const OrderedPart> other);

}  // namespace pleat::annotate
