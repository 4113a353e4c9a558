// Overlap: how much of each kind of communication moved under compute. Rows are per dimension and
// operation, and per chunk for gradient sync; each row is computed on the merged intervals of its
// own transfers, so two concurrent transfers never count a moment twice. Pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/accounting.h"
#include "analysis/activity.h"
#include "base/time.h"

namespace pleat::analysis {

struct OverlapFigures {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    base::Duration hidden;  // moving data under compute
    base::Duration moving;  // moving data with nothing to hide under
    base::Duration
        waiting;  // waiting for a partner, neither under compute nor under its own moving

    [[nodiscard]] base::Duration total() const { return hidden + moving + waiting; }
    // hidden / (hidden + moving); none where nothing moved, never 0/0.
    [[nodiscard]] std::optional<double> overlapFraction() const;
    OverlapFigures& operator+=(const OverlapFigures& other);
};

struct TransferKey {
    trace::Dimension dimension = trace::Dimension::Other;
    trace::Operation operation = trace::Operation::Other;
    friend auto operator<=>(const TransferKey&, const TransferKey&) = default;
};

struct TransferRow {
    TransferKey key;
    OverlapFigures figures;
};

struct GradientSyncRow {
    std::int32_t chunk = -1;
    OverlapFigures figures;
};

// Ascending by dimension, operation.
[[nodiscard]] std::vector<TransferRow> transferOverlap(const RankActivity& activity,
                                                       const base::IntervalSet& compute);
// Ascending by chunk.
[[nodiscard]] std::vector<GradientSyncRow> gradientSyncOverlap(const RankActivity& activity,
                                                               const base::IntervalSet& compute);

}  // namespace pleat::analysis
