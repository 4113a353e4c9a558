#include "timeline/frame_builder.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pleat::timeline {
namespace {

// Columns that are prepared at once for all rows of a lane: rows lie side by side in memory, so
// what one of them brought into the cache serves the others.
constexpr std::int32_t kTile = 256;
// Of a cell that could not be exact in time. Divides a tile.
constexpr std::int32_t kCoarseColumns = 16;

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
    m_sources = {&index, &colours, options.labelWidth};
    m_pool->forEach(m_places.size(), [&](std::size_t i) {
        FrameRow& row = m_frame.rows[i];
        row.place = m_places[i];
        row.boxes.clear();
        row.labels.clear();
        row.cells.assign(width, Cell{});
        const RowIndex* events = rowAt(index, row.place);
        if (events != nullptr && events->size() > 0) addBoxes(row, *events);
    });
    groupByLane();
    makeTiles();
    makeExact(options.deadline, Otherwise::Coarse);
    return m_frame;
}

void FrameBuilder::refine(Deadline deadline) { makeExact(deadline, Otherwise::AsItIs); }

void FrameBuilder::makeTiles() {
    const std::int32_t width = m_frame.viewport.width;
    m_coarse.clear();
    for (std::size_t group = 0; group < m_groups.size(); ++group)
        for (std::int32_t x = 0; x < width; x += kTile)
            m_coarse.push_back({group, x, std::min(x + kTile, width)});
}

// Those of m_coarse; what is not exact in time stays there.
void FrameBuilder::makeExact(Deadline deadline, Otherwise otherwise) {
    m_made.assign(m_coarse.size(), 0);
    m_pool->forEach(m_coarse.size(), [&](std::size_t i) {
        const bool inTime =
            i == 0 || deadline == kNoDeadline || std::chrono::steady_clock::now() < deadline;
        if (inTime || otherwise == Otherwise::Coarse)
            fillTile(m_coarse[i], inTime ? 1 : kCoarseColumns);
        m_made[i] = inTime ? 1 : 0;
    });
    std::size_t left = 0;
    for (std::size_t i = 0; i < m_coarse.size(); ++i)
        if (m_made[i] == 0) m_coarse[left++] = m_coarse[i];
    m_coarse.resize(left);
}

void FrameBuilder::groupByLane() {
    m_groups.clear();
    for (std::size_t i = 0; i < m_places.size(); ++i) {
        if (m_places[i].row < 0) continue;
        const bool another = m_groups.empty() || m_groups.back().last != i ||
                             m_places[i].lane != m_places[i - 1].lane ||
                             m_places[i].rank != m_places[i - 1].rank;
        if (another) m_groups.push_back({i, i});
        m_groups.back().last = i + 1;
    }
}

// What a row's cells are made with: where its index was looked at last, and room for the answers.
struct FrameBuilder::Columns {
    std::int32_t perCell = 1;
    RowIndex::Bookmark bookmark = 0;
    std::array<base::TraceTime, kTile + 1> bounds{};
    std::array<Summary, kTile> summaries{};
};

void FrameBuilder::fillTile(const Tile& tile, std::int32_t columnsPerCell) {
    Columns columns;
    columns.perCell = columnsPerCell;
    for (std::size_t row = m_groups[tile.group].first; row < m_groups[tile.group].last; ++row)
        fillRow(m_frame.rows[row], tile, columns);
}

void FrameBuilder::fillRow(FrameRow& row, const Tile& tile, Columns& columns) const {
    const RowIndex* events = rowAt(*m_sources.index, row.place);
    if (events == nullptr || events->size() == 0) return;
    columns.bookmark = 0;
    auto box = std::partition_point(row.boxes.begin(), row.boxes.end(),
                                    [&](const Box& one) { return one.x1 <= tile.x0; });
    for (std::int32_t x = tile.x0; x < tile.x1; ++box) {
        const bool more = box != row.boxes.end();
        const std::int32_t end = more ? std::min(box->x0, tile.x1) : tile.x1;
        if (x < end) addCells(row, *events, x, end, columns);
        if (!more) break;
        x = box->x1;
    }
}

void FrameBuilder::addBoxes(FrameRow& out, const RowIndex& row) const {
    const Viewport& viewport = m_frame.viewport;
    const Sources& sources = m_sources;
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
                            Columns& columns) const {
    const auto columnAfter = [&](std::int32_t x) { return std::min(x + columns.perCell, x1); };
    std::size_t count = 0;
    for (std::int32_t x = x0; x < x1; x = columnAfter(x))
        columns.bounds[count++] = m_bounds[static_cast<std::size_t>(x)];
    columns.bounds[count] = m_bounds[static_cast<std::size_t>(x1)];
    const std::span<Summary> summaries(columns.summaries.data(), count);
    row.summarise({columns.bounds.data(), count + 1}, summaries, columns.bookmark);
    const EventColours& colours = *m_sources.colours;
    for (const Summary& summary : summaries)
        if (summary.count > 0) colours.fetch(summary.longest);
    std::int32_t x = x0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t end = columnAfter(x);
        Cell cell;
        if (summaries[i].count > 0)
            cell = {occupancyOf(summaries[i], columns.bounds[i + 1] - columns.bounds[i]),
                    colours[summaries[i].longest], summaries[i].busy.ns == 0};
        std::fill(out.cells.begin() + x, out.cells.begin() + end, cell);
        x = end;
    }
}

}  // namespace pleat::timeline
