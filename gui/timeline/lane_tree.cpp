#include "timeline/lane_tree.h"

#include <algorithm>

namespace pleat::timeline {

using trace::LaneId;
using trace::RankId;

namespace {

template <class Id>
void moveBefore(std::vector<Id>& order, Id moved, Id before) {
    if (moved == before || std::find(order.begin(), order.end(), moved) == order.end()) return;
    if (before.valid() && std::find(order.begin(), order.end(), before) == order.end()) return;
    order.erase(std::find(order.begin(), order.end(), moved));
    order.insert(std::find(order.begin(), order.end(), before), moved);
}

}  // namespace

LaneTree::LaneTree(const LodIndex& index)
    : m_index(&index),
      m_rankCollapsed(index.trace().ranks().size(), false),
      m_laneCollapsed(index.trace().lanes().size(), false),
      m_lanePinned(index.trace().lanes().size(), false),
      m_itemOfLane(index.trace().lanes().size(), 0) {
    const auto& ranks = index.trace().ranks();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        m_ranks.push_back(RankId::at(i));
        const auto lanes = index.lanesOf(RankId::at(i));
        m_lanes.emplace_back(lanes.begin(), lanes.end());
    }
    // As unsigned numbers, -1 is the largest.
    std::stable_sort(m_ranks.begin(), m_ranks.end(), [&](RankId a, RankId b) {
        return static_cast<std::uint32_t>(ranks[a].number) <
               static_cast<std::uint32_t>(ranks[b].number);
    });
    layOut();
}

void LaneTree::setCollapsed(RankId rank, bool collapsed) {
    m_rankCollapsed[rank.index()] = collapsed;
    layOut();
}

void LaneTree::setCollapsed(LaneId lane, bool collapsed) {
    m_laneCollapsed[lane.index()] = collapsed;
    layOut();
}

void LaneTree::setAllCollapsed(bool collapsed) {
    std::fill(m_rankCollapsed.begin(), m_rankCollapsed.end(), collapsed);
    layOut();
}

void LaneTree::setPinned(LaneId lane, bool pinned) {
    m_lanePinned[lane.index()] = pinned;
    layOut();
}

void LaneTree::move(RankId rank, RankId before) {
    moveBefore(m_ranks, rank, before);
    layOut();
}

void LaneTree::move(LaneId lane, LaneId before) {
    moveBefore(m_lanes[m_index->trace().lanes()[lane].rank.index()], lane, before);
    layOut();
}

std::int32_t LaneTree::rowsShown(LaneId lane) const {
    return m_laneCollapsed[lane.index()]
               ? 1
               : static_cast<std::int32_t>(std::max<std::size_t>(m_index->rows(lane).size(), 1));
}

void LaneTree::append(std::vector<Item>& items, Item item, std::int32_t& y) const {
    item.y = y;
    item.height = item.lane.valid() ? rowsShown(item.lane) * kRowHeight : kRankHeight;
    y += item.height + kLaneGap;
    items.push_back(item);
}

void LaneTree::layOut() {
    m_pinned.clear();
    m_scrolled.clear();
    m_pinnedHeight = m_scrolledHeight = 0;
    for (const RankId rank : m_ranks) {
        const auto rankItem = static_cast<std::uint32_t>(m_scrolled.size());
        append(m_scrolled, {rank, {}}, m_scrolledHeight);
        for (const LaneId lane : m_lanes[rank.index()]) {
            std::uint32_t& item = m_itemOfLane[lane.index()];
            if (m_lanePinned[lane.index()]) {
                item = static_cast<std::uint32_t>(m_pinned.size());
                append(m_pinned, {rank, lane}, m_pinnedHeight);
            } else if (m_rankCollapsed[rank.index()]) {
                item = rankItem;
            } else {
                item = static_cast<std::uint32_t>(m_scrolled.size());
                append(m_scrolled, {rank, lane}, m_scrolledHeight);
            }
        }
    }
}

std::int32_t LaneTree::clampedScroll(std::int32_t scroll, std::int32_t viewHeight) const {
    return std::clamp(scroll, 0, std::max(0, height() - viewHeight));
}

PlacedRow LaneTree::line(const Item& item, std::int32_t row, std::int32_t offset) const {
    if (item.lane.valid()) {
        return {item.rank,  item.lane, row, offset + item.y + row * kRowHeight,
                kRowHeight, row == 0};
    }
    return {item.rank, {}, collapsed(item.rank) ? 0 : -1, offset + item.y, kRankHeight, false};
}

void LaneTree::placeItem(const Item& item, std::int32_t offset, std::int32_t top,
                         std::int32_t bottom, std::vector<PlacedRow>& rows) const {
    const std::int32_t count = item.lane.valid() ? rowsShown(item.lane) : 1;
    for (std::int32_t row = 0; row < count; ++row) {
        const PlacedRow placed = line(item, row, offset);
        if (placed.y + placed.height > top && placed.y < bottom) rows.push_back(placed);
    }
}

void LaneTree::placeSection(std::span<const Item> items, std::int32_t offset, std::int32_t top,
                            std::int32_t bottom, std::vector<PlacedRow>& rows) const {
    auto item = std::partition_point(items.begin(), items.end(), [&](const Item& one) {
        return offset + one.y + one.height <= top;
    });
    for (; item != items.end() && offset + item->y < bottom; ++item)
        placeItem(*item, offset, top, bottom, rows);
}

void LaneTree::placeVisible(std::int32_t scroll, std::int32_t viewHeight,
                            std::vector<PlacedRow>& rows) const {
    rows.clear();
    placeSection(m_pinned, 0, 0, std::min(m_pinnedHeight, viewHeight), rows);
    placeSection(m_scrolled, m_pinnedHeight - scroll, m_pinnedHeight, viewHeight, rows);
}

std::optional<PlacedRow> LaneTree::at(std::int32_t y, std::int32_t scroll) const {
    std::vector<PlacedRow> rows;
    if (y < 0) return std::nullopt;
    if (y < m_pinnedHeight) {
        placeSection(m_pinned, 0, y, y + 1, rows);
    } else {
        placeSection(m_scrolled, m_pinnedHeight - scroll, y, y + 1, rows);
    }
    return rows.empty() ? std::nullopt : std::optional(rows.front());
}

PlacedRow LaneTree::locate(LaneId lane, std::size_t row, std::int32_t scroll) const {
    const bool isPinned = m_lanePinned[lane.index()];
    const Item& item = (isPinned ? m_pinned : m_scrolled)[m_itemOfLane[lane.index()]];
    const std::int32_t offset = isPinned ? 0 : m_pinnedHeight - scroll;
    const bool ownRow = item.lane.valid() && !m_laneCollapsed[lane.index()];
    return line(item, ownRow ? static_cast<std::int32_t>(row) : 0, offset);
}

}  // namespace pleat::timeline
