#include "timeline/frame_builder.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pleat::timeline {
namespace {

// Columns that are prepared at once for all rows of a lane: rows lie side by side in memory, so
// what one of them brought into the cache serves the others.
constexpr std::size_t kTile = 256;

// Rounded down, so that idle time is never hidden; any event shows.
std::uint8_t occupancyOf(const Summary& summary, base::Duration column) {
    if (summary.count == 0) return 0;
    if (column.ns > 0 && summary.busy >= column) return 255;
    const double share =
        column.ns > 0 ? static_cast<double>(summary.busy.ns) / static_cast<double>(column.ns) : 0;
    return static_cast<std::uint8_t>(std::clamp(share * 255, 1.0, 254.0));
}

}  // namespace

const RowIndex* rowAt(const LodIndex& index, const PlacedRow& place) {
    if (place.row < 0) return nullptr;
    if (!place.lane.valid()) return &index.summary(place.rank);
    return &index.rows(place.lane)[static_cast<std::size_t>(place.row)];
}

void FrameBuilder::resizeRows(std::size_t count) {
    std::vector<FrameRow>& rows = m_frame.rows;
    while (rows.size() > count) {
        m_spareRows.push_back(std::move(rows.back()));
        rows.pop_back();
    }
    while (rows.size() < count) {
        if (m_spareRows.empty()) {
            rows.emplace_back();
        } else {
            rows.push_back(std::move(m_spareRows.back()));
            m_spareRows.pop_back();
        }
    }
}

const Frame& FrameBuilder::build(const LodIndex& index, const LaneTree& tree,
                                 const Viewport& viewport, const EventColours& colours,
                                 const FrameOptions& options) {
    m_frame.viewport = viewport;
    m_frame.height = options.height;
    const auto width = static_cast<std::size_t>(viewport.width);
    m_bounds.resize(width + 1);
    for (std::size_t c = 0; c <= width; ++c) m_bounds[c] = timeAt(viewport, static_cast<double>(c));
    tree.placeVisible(options.scroll, options.height, m_places);
    resizeRows(m_places.size());
    const Sources sources{&index, &colours, options.labelWidth};
    m_pool->forEach(m_places.size(), [&](std::size_t i) {
        FrameRow& row = m_frame.rows[i];
        row.place = m_places[i];
        row.boxes.clear();
        row.labels.clear();
        row.cells.assign(width, Cell{});
        const RowIndex* events = rowAt(index, row.place);
        if (events != nullptr && events->size() > 0) addBoxes(row, *events, sources);
    });
    groupByLane();
    const std::size_t tiles = (width + kTile - 1) / kTile;
    m_pool->forEach(m_groups.size() * tiles, [&](std::size_t i) {
        const auto x0 = static_cast<std::int32_t>(i % tiles * kTile);
        const auto x1 =
            static_cast<std::int32_t>(std::min<std::size_t>(i % tiles * kTile + kTile, width));
        const Group group = m_groups[i / tiles];
        for (std::size_t row = group.first; row < group.last; ++row)
            fillTile(m_frame.rows[row], x0, x1, sources);
    });
    return m_frame;
}

void FrameBuilder::groupByLane() {
    m_groups.clear();
    for (std::size_t i = 0; i < m_places.size(); ++i) {
        const bool another = i == 0 || m_places[i].lane != m_places[i - 1].lane ||
                             m_places[i].rank != m_places[i - 1].rank;
        if (another) m_groups.push_back({i, i});
        m_groups.back().last = i + 1;
    }
}

void FrameBuilder::fillTile(FrameRow& row, std::int32_t x0, std::int32_t x1,
                            const Sources& sources) const {
    const RowIndex* events = rowAt(*sources.index, row.place);
    if (events == nullptr || events->size() == 0) return;
    RowIndex::Bookmark bookmark = 0;
    std::array<Summary, kTile> scratch{};
    auto box = std::partition_point(row.boxes.begin(), row.boxes.end(),
                                    [&](const Box& one) { return one.x1 <= x0; });
    for (std::int32_t x = x0; x < x1; ++box) {
        const bool more = box != row.boxes.end();
        const std::int32_t end = more ? std::min(box->x0, x1) : x1;
        if (x < end) addCells(row, *events, x, end, bookmark, scratch, sources);
        if (!more) break;
        x = box->x1;
    }
}

void FrameBuilder::addBoxes(FrameRow& out, const RowIndex& row, const Sources& sources) const {
    const Viewport& viewport = m_frame.viewport;
    const trace::Trace& trace = sources.index->trace();
    row.forEachPiece(visible(viewport), wholeNsPerPixel(viewport), [&](const Piece& piece) {
        const Box box{edgeAt(viewport, piece.shown.begin), edgeAt(viewport, piece.shown.end),
                      piece.event, (*sources.colours)[piece.event]};
        // Empty where all but a fraction of a pixel lies outside; the cells show that fraction.
        if (box.x0 == box.x1) return;
        out.boxes.push_back(box);
        if (box.x1 - box.x0 >= sources.labelWidth)
            out.labels.push_back({box.x0, box.x1, box.colour, trace.name(box.event)});
    });
}

void FrameBuilder::addCells(FrameRow& out, const RowIndex& row, std::int32_t x0, std::int32_t x1,
                            RowIndex::Bookmark& bookmark, std::span<Summary> scratch,
                            const Sources& sources) const {
    const auto at = static_cast<std::size_t>(x0), count = static_cast<std::size_t>(x1 - x0);
    const std::span<const base::TraceTime> bounds(&m_bounds[at], count + 1);
    row.summarise(bounds, scratch.first(count), bookmark);
    for (std::size_t i = 0; i < count; ++i)
        if (scratch[i].count > 0) sources.colours->fetch(scratch[i].longest);
    for (std::size_t i = 0; i < count; ++i) {
        if (scratch[i].count == 0) continue;
        out.cells[at + i] = {occupancyOf(scratch[i], bounds[i + 1] - bounds[i]),
                             (*sources.colours)[scratch[i].longest]};
    }
}

}  // namespace pleat::timeline
