// How busy some rows (ranks) are over a stretch of time, as one strip of equal parts: what a
// minimap shows. Work is added piece by piece or part by part. Values; not thread-safe while it is
// being added to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "timeline/viewport.h"

namespace pleat::timeline {

class BusyStrip {
  public:
    // At least one part.
    BusyStrip(base::Interval whole, std::size_t parts);

    // Part p lasts from bounds()[p] to bounds()[p + 1].
    [[nodiscard]] std::span<const base::TraceTime> bounds() const { return m_bounds; }
    // Something was at work in this part, for that long; work without length is seen too.
    void add(std::size_t part, base::Duration busy);
    // The same for a piece of work, in all parts it lies in. O(those parts).
    void add(base::Interval work);
    // Which share of each part the rows were busy, in their mean, 0 … 255; rounded down, but not
    // to 0 where anything was at work.
    [[nodiscard]] std::vector<std::uint8_t> shares(std::size_t rows) const;

  private:
    Viewport m_whole;
    std::vector<base::TraceTime> m_bounds;
    std::vector<double> m_busy;  // ns
    std::vector<bool> m_any;
};

}  // namespace pleat::timeline
