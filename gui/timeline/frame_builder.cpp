#include "timeline/frame_builder.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pleat::timeline {
namespace {

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
        m_frame.rows[i].place = m_places[i];
        fillRow(m_frame.rows[i], sources);
    });
    return m_frame;
}

void FrameBuilder::fillRow(FrameRow& out, const Sources& sources) const {
    out.boxes.clear();
    out.labels.clear();
    out.cells.assign(static_cast<std::size_t>(m_frame.viewport.width), Cell{});
    const RowIndex* row = rowAt(*sources.index, out.place);
    if (row == nullptr || row->size() == 0) return;
    addBoxes(out, *row, sources);
    RowIndex::Bookmark bookmark = 0;
    std::int32_t x = 0;
    for (const Box& box : out.boxes) {
        addCells(out, *row, x, box.x0, bookmark, sources);
        x = box.x1;
    }
    addCells(out, *row, x, m_frame.viewport.width, bookmark, sources);
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
                            RowIndex::Bookmark& bookmark, const Sources& sources) const {
    constexpr std::int32_t kAtOnce = 128;
    std::array<Summary, kAtOnce> summaries{};
    for (std::int32_t first = x0; first < x1; first += kAtOnce) {
        const auto at = static_cast<std::size_t>(first);
        const auto count = static_cast<std::size_t>(std::min(kAtOnce, x1 - first));
        const std::span<const base::TraceTime> bounds(&m_bounds[at], count + 1);
        row.summarise(bounds, {summaries.data(), count}, bookmark);
        for (std::size_t i = 0; i < count; ++i) {
            if (summaries[i].count == 0) continue;
            out.cells[at + i] = {occupancyOf(summaries[i], bounds[i + 1] - bounds[i]),
                                 (*sources.colours)[summaries[i].longest]};
        }
    }
}

}  // namespace pleat::timeline
