// FrameBuilder: makes Frames from the index. Rows are prepared on the pool's threads and joined;
// the memory of a frame is kept for the next one. One builder belongs to one view and is used by
// one thread at a time.
#pragma once

#include <span>
#include <vector>

#include "timeline/event_colours.h"
#include "timeline/frame.h"
#include "timeline/worker_pool.h"

namespace pleat::timeline {

struct FrameOptions {
    std::int32_t height = 0;       // of the view, pixels
    std::int32_t scroll = 0;       // of what does not stay in place, pixels
    std::int32_t labelWidth = 32;  // narrower boxes bear no name
};

class FrameBuilder {
  public:
    explicit FrameBuilder(WorkerPool& pool) : m_pool(&pool) {}

    // The frame stays as it is until the next call. O(visible rows x (width + log n)).
    const Frame& build(const LodIndex& index, const LaneTree& tree, const Viewport& viewport,
                       const EventColours& colours, const FrameOptions& options);
    [[nodiscard]] const Frame& frame() const { return m_frame; }

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
    void fillTile(FrameRow& row, std::int32_t x0, std::int32_t x1, const Sources& sources) const;
    void addBoxes(FrameRow& out, const RowIndex& row, const Sources& sources) const;
    void addCells(FrameRow& out, const RowIndex& row, std::int32_t x0, std::int32_t x1,
                  RowIndex::Bookmark& bookmark, std::span<Summary> scratch,
                  const Sources& sources) const;

    WorkerPool* m_pool;
    Frame m_frame;
    std::vector<FrameRow> m_spareRows;  // with the memory they had
    std::vector<PlacedRow> m_places;
    std::vector<Group> m_groups;            // of places in one lane
    std::vector<base::TraceTime> m_bounds;  // timeAt of columns 0 … width
};

// The row of the index that a line shows; nullptr for a line without events.
[[nodiscard]] const RowIndex* rowAt(const LodIndex& index, const PlacedRow& place);

}  // namespace pleat::timeline
