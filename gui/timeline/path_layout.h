// The critical path and the slack of events laid out over a Frame, in its pixels: strokes along the
// tops of rows, steps from one row to the next, and veils over events that may be late. The picture
// is tested as text; a painter only has to draw what is here. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/frame.h"
#include "timeline/path_marks.h"

namespace pleat::timeline {

// Along the row whose top is y, [x0, x1), at least a pixel and within the viewport.
struct PathStroke {
    std::int32_t x0 = 0, x1 = 0, y = 0;
    bool pause = false;
};

// From where one stroke ends to where the next begins, in another row. Rows out of view lie just
// outside of the picture, above or below.
struct PathStep {
    std::int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// Over columns [x0, x1) of a row of the frame.
struct SlackVeil {
    std::size_t row = 0;  // position in Frame::rows
    std::int32_t x0 = 0, x1 = 0;
    std::uint8_t paleness = 0;  // of the background's colour, of 255; never 0
};

struct PathFrame {
    std::vector<PathStroke> strokes;
    std::vector<PathStep> steps;
    std::vector<SlackVeil> veils;  // by row, then x0
};

inline constexpr std::size_t kMostInColumn = 8;

// `frame` was built from this index and tree, scrolled by `scroll`. Boxes have the veil of their
// event; columns of cells that of the longest event in them, whose colour they have, in proportion
// to their occupancy. Of the pieces that lie within one column at most kMostInColumn are drawn,
// spread evenly. O(width x log n + visible pieces + visible cells x log n).
[[nodiscard]] PathFrame layOutPath(const PathMarks& marks, const Frame& frame,
                                   const LodIndex& index, const LaneTree& tree,
                                   std::int32_t scroll);

// One line a stroke, step and veil.
[[nodiscard]] std::string pathText(const PathFrame& path);

}  // namespace pleat::timeline
