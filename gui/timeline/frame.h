// Frame: what a painter draws, as plain numbers: per visible row the events that are at least one
// pixel wide as boxes, and all others as one row of cells, one per column of pixels, to be drawn
// stretched to the row's height. So cost follows columns, never events, and the picture can be
// compared as text. Made by FrameBuilder; views into the trace's names live as long as the trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/lane_tree.h"
#include "timeline/viewport.h"

namespace pleat::timeline {

// [x0, x1) in pixels, at least one and within the viewport. Boxes of a row do not overlap, and what
// was idle for at least a pixel between two is at least a pixel wide.
struct Box {
    std::int32_t x0 = 0, x1 = 0;
    trace::EventId event;
    std::uint8_t colour = 0;  // index into Palette::events
};

// One column of a row outside of boxes.
struct Cell {
    std::uint8_t occupancy = 0;  // of the column's time, 255 only if it was busy throughout and 0
                                 // only if no event lies in it
    std::uint8_t colour = 0;     // of the longest event in it
    bool instant = false;        // all that lies in it has no length: it is seen, not measured
    friend bool operator==(const Cell&, const Cell&) = default;
};

struct Label {
    std::int32_t x0 = 0, x1 = 0;  // the box it belongs to
    std::uint8_t colour = 0;      // what it is written on
    std::string_view text;        // UTF-8 as recorded, not cut
};

struct FrameRow {
    PlacedRow place;
    std::vector<Cell> cells;  // one a column
    std::vector<Box> boxes;   // from left to right
    std::vector<Label> labels;
};

struct Frame {
    Viewport viewport;
    std::int32_t height = 0;
    std::vector<FrameRow> rows;  // from top to bottom
};

// One line a row, box and stretch of equal cells, for tests and for reading.
[[nodiscard]] std::string frameText(const Frame& frame, const trace::Trace& trace);

}  // namespace pleat::timeline
