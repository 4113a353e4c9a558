// Two ranks' communications of one group that carry no number, where some are missing: one that was
// lost in the middle of a recording must not shift all that follow. The orders are aligned like two
// texts of which letters were lost: parts of one kind (operation, size) whose ends differ by what
// the clocks differ belong together, and what fits nowhere stands alone. Where times say nothing,
// the kinds alone decide. Pure.
//
// The naive definition is the alignment with the highest sum of scores over all pairs of prefixes
// (Needleman and Wunsch); only pairs whose ends are near each other are looked at, so that it takes
// O(parts) where a rank's ends ascend.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "annotate/order_shift.h"

namespace pleat::annotate {

inline constexpr std::ptrdiff_t kNoPartner = -1;

struct OrderAlignment {
    // Of every part of `other`, its partner's place in `reference`; ascending.
    std::vector<std::ptrdiff_t> partners;
    double difference = 0;  // of a reference's end and its partner's, median
    bool sure = true;       // false: another alignment explains the ends as well

    [[nodiscard]] std::size_t pairs() const;
};

// Nothing where too few of the shorter list's parts find a partner: these are different
// communications.
[[nodiscard]] std::optional<OrderAlignment> alignOrders(std::span<const OrderedPart> reference,
                                                        std::span<const OrderedPart> other);

}  // namespace pleat::annotate
