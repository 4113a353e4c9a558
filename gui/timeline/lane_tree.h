// LaneTree: ranks > lanes > rows from top to bottom, and what a person did to them: collapsed,
// pinned, moved. It knows heights in pixels, nothing of time. Pinned lanes stand above all others
// and do not scroll. A collapsed rank is one row, the summary of its work; a collapsed lane shows
// its outermost row only.
//
// A change costs O(lanes); what is asked for every frame costs O(what is visible). Not thread-safe
// while it is changed: it belongs to the view.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "timeline/lod_index.h"

namespace pleat::timeline {

// Pixels of a device-independent screen.
inline constexpr std::int32_t kRowHeight = 18, kRankHeight = 22, kLaneGap = 4;

// What stands in one line of the picture.
struct PlacedRow {
    trace::RankId rank;
    trace::LaneId lane;    // invalid: the rank's own line
    std::int32_t row = 0;  // of the lane; of a rank's line 0, or -1 while it has no summary
    std::int32_t y = 0;    // from the top of the view; negative where cut off above
    std::int32_t height = 0;
    bool firstOfLane = false;  // the line that bears the lane's name
    friend bool operator==(const PlacedRow&, const PlacedRow&) = default;
};

class LaneTree {
  public:
    // All expanded, in order of rank number, other processes last.
    explicit LaneTree(const LodIndex& index);

    [[nodiscard]] bool collapsed(trace::RankId rank) const { return m_rankCollapsed[rank.index()]; }
    [[nodiscard]] bool collapsed(trace::LaneId lane) const { return m_laneCollapsed[lane.index()]; }
    [[nodiscard]] bool pinned(trace::LaneId lane) const { return m_lanePinned[lane.index()]; }
    void setCollapsed(trace::RankId rank, bool collapsed);
    void setCollapsed(trace::LaneId lane, bool collapsed);
    void setAllCollapsed(bool collapsed);  // all ranks
    void setPinned(trace::LaneId lane, bool pinned);
    // Puts a rank before another one, or last where `before` is invalid.
    void move(trace::RankId rank, trace::RankId before);
    // Puts a lane before another one of its rank, or last of it; a lane of another rank changes
    // nothing.
    void move(trace::LaneId lane, trace::LaneId before);
    [[nodiscard]] std::span<const trace::RankId> rankOrder() const { return m_ranks; }
    [[nodiscard]] std::span<const trace::LaneId> laneOrder(trace::RankId rank) const {
        return m_lanes[rank.index()];
    }

    // Of everything, pinned lanes among it.
    [[nodiscard]] std::int32_t height() const { return m_pinnedHeight + m_scrolledHeight; }
    [[nodiscard]] std::int32_t pinnedHeight() const { return m_pinnedHeight; }
    // The nearest scroll that leaves no room below the last line.
    [[nodiscard]] std::int32_t clampedScroll(std::int32_t scroll, std::int32_t viewHeight) const;
    // The lines in a view of this height that is scrolled by `scroll`, from top to bottom; replaces
    // what `rows` held.
    void placeVisible(std::int32_t scroll, std::int32_t viewHeight,
                      std::vector<PlacedRow>& rows) const;
    // The line at y; empty between and below lines.
    [[nodiscard]] std::optional<PlacedRow> at(std::int32_t y, std::int32_t scroll) const;
    // Where a row of a lane is to be found, on whatever line shows it: its own, that of its
    // collapsed lane, or that of its collapsed rank. It may lie outside of the view.
    [[nodiscard]] PlacedRow locate(trace::LaneId lane, std::size_t row, std::int32_t scroll) const;

  private:
    struct Item {
        trace::RankId rank;
        trace::LaneId lane;  // invalid: the rank's line
        std::int32_t y = 0;  // within its section
        std::int32_t height = 0;
    };
    void layOut();
    void append(std::vector<Item>& items, Item item, std::int32_t& y) const;
    [[nodiscard]] std::int32_t rowsShown(trace::LaneId lane) const;
    // Lines of an item that reach into [top, bottom); the section begins at `offset` of the view.
    void placeItem(const Item& item, std::int32_t offset, std::int32_t top, std::int32_t bottom,
                   std::vector<PlacedRow>& rows) const;
    void placeSection(std::span<const Item> items, std::int32_t offset, std::int32_t top,
                      std::int32_t bottom, std::vector<PlacedRow>& rows) const;
    [[nodiscard]] PlacedRow line(const Item& item, std::int32_t row, std::int32_t offset) const;

    const LodIndex* m_index;
    std::vector<trace::RankId> m_ranks;               // in order
    std::vector<std::vector<trace::LaneId>> m_lanes;  // [rank], in order
    std::vector<bool> m_rankCollapsed, m_laneCollapsed, m_lanePinned;
    std::vector<Item> m_pinned, m_scrolled;
    std::vector<std::uint32_t> m_itemOfLane;  // in its section; of a lane in a collapsed rank: that
    std::int32_t m_pinnedHeight = 0, m_scrolledHeight = 0;
};

}  // namespace pleat::timeline
