// FrameBuilder: makes Frames from the index. Rows are prepared on the pool's threads and joined;
// the memory of a frame is kept for the next one. One builder belongs to one view and is used by
// one thread at a time.
//
// A picture that must come soon has a deadline. What could not be exact by then is coarse: a cell
// stands for 16 columns, and is true of these together. refine() goes on from there.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "timeline/event_colours.h"
#include "timeline/frame.h"
#include "timeline/worker_pool.h"

namespace pleat::timeline {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();
// For what moves: a 60th of a second must do for the boxes, what is coarse, and painting as well.
inline constexpr std::chrono::milliseconds kTimeForFrame{3};

struct FrameOptions {
    std::int32_t height = 0;       // of the view, pixels
    std::int32_t scroll = 0;       // of what does not stay in place, pixels
    std::int32_t labelWidth = 32;  // narrower boxes bear no name
    Deadline deadline = kNoDeadline;
};

class FrameBuilder {
  public:
    explicit FrameBuilder(WorkerPool& pool) : m_pool(&pool) {}

    // The frame stays as it is until the next call of this or refine(). O(visible rows x (width +
    // log n)).
    const Frame& build(const LodIndex& index, const LaneTree& tree, const Viewport& viewport,
                       const EventColours& colours, const FrameOptions& options);
    [[nodiscard]] const Frame& frame() const { return m_frame; }
    // Makes more of the last frame exact, at least one piece of it, until the deadline. The index
    // and colours it was built from must still be there.
    void refine(Deadline deadline);
    [[nodiscard]] bool exact() const { return m_coarse.empty(); }

  private:
    struct Sources {
        const LodIndex* index;
        const EventColours* colours;
        std::int32_t labelWidth;
    };
    void resizeRows(std::size_t count);
    struct Group {
        std::size_t first, last;
    };
    void groupByLane();
    // Some columns of the rows of one lane.
    struct Tile {
        std::size_t group = 0;
        std::int32_t x0 = 0, x1 = 0;
    };
    enum class Otherwise : std::uint8_t { Coarse, AsItIs };
    void makeTiles();
    void makeExact(Deadline deadline, Otherwise otherwise);
    void fillTile(const Tile& tile, std::int32_t columnsPerCell);
    struct Columns;
    void fillRow(FrameRow& row, const Tile& tile, Columns& columns) const;
    void addBoxes(FrameRow& out, const RowIndex& row) const;
    void addCells(FrameRow& out, const RowIndex& row, std::int32_t x0, std::int32_t x1,
                  Columns& columns) const;

    WorkerPool* m_pool;
    Frame m_frame;
    Sources m_sources{};
    std::vector<FrameRow> m_spareRows;  // with the memory they had
    std::vector<PlacedRow> m_places;
    std::vector<Group> m_groups;            // of places in one lane
    std::vector<base::TraceTime> m_bounds;  // timeAt of columns 0 … width
    std::vector<Tile> m_coarse;             // what is not exact
    std::vector<std::uint8_t> m_made;       // by tile, while some are made: is it exact?
};

// The row of the index that a line shows; nullptr for a line without events.
[[nodiscard]] const RowIndex* rowAt(const LodIndex& index, const PlacedRow& place);

}  // namespace pleat::timeline
