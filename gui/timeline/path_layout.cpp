#include "timeline/path_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "timeline/frame_builder.h"

namespace pleat::timeline {
namespace {

// Collects strokes from left to right, and the steps between them.
class Line {
  public:
    Line(const PathMarks& marks, const Frame& frame, const LodIndex& index, const LaneTree& tree,
         std::int32_t scroll)
        : m_marks(marks), m_frame(frame), m_index(index), m_tree(tree), m_scroll(scroll) {}

    void drawInto(PathFrame& out) {
        const base::Interval shown = visible(m_frame.viewport);
        const std::span<const PathMark> path = m_marks.path;
        // One more on either side, for the steps that lead out of the picture.
        std::size_t at = firstEndingAfter(0, shown.begin);
        if (at > 0) --at;
        while (at < path.size()) {
            const bool beyond = path[at].span.begin >= shown.end;
            const std::int32_t column = std::clamp(columnAt(m_frame.viewport, path[at].span.begin),
                                                   0, std::max(m_frame.viewport.width - 1, 0));
            const std::size_t next = firstEndingAfter(at, timeAt(m_frame.viewport, column + 1));
            const std::size_t step = (next - at + kMostInColumn - 1) / kMostInColumn;
            for (std::size_t i = at; i < next; i += step) add(path[i], out);
            if (next == at) add(path[at], out);
            at = std::max(next, at + 1);
            if (beyond) break;
        }
    }

  private:
    struct Place {
        std::int32_t y = 0;
        bool inView = false;
    };
    struct End {
        std::int32_t x = 0, y = 0;
        base::TraceTime time;
    };

    [[nodiscard]] std::size_t firstEndingAfter(std::size_t from, base::TraceTime time) const {
        const auto begin = m_marks.path.begin();
        return static_cast<std::size_t>(
            std::partition_point(begin + static_cast<std::ptrdiff_t>(from), m_marks.path.end(),
                                 [&](const PathMark& mark) { return mark.span.end <= time; }) -
            begin);
    }

    [[nodiscard]] Place placeOf(trace::EventId event) const {
        const trace::LaneId lane = m_index.trace().columns().lane[event.index()];
        const PlacedRow row = m_tree.locate(lane, m_index.rowOf(event), m_scroll);
        const std::int32_t top = m_tree.pinned(lane) ? 0 : m_tree.pinnedHeight();
        return {std::clamp(row.y, -kOutside, m_frame.height + kOutside),
                row.y >= top && row.y < m_frame.height};
    }

    void add(const PathMark& mark, PathFrame& out) {
        if (!mark.on.valid()) return;
        const Viewport& viewport = m_frame.viewport;
        const Place place = placeOf(mark.on);
        const std::int32_t x0 = std::min(edgeAt(viewport, mark.span.begin), viewport.width);
        const std::int32_t x1 = edgeAt(viewport, mark.span.end);
        const base::Interval shown = visible(viewport);
        const bool passes = m_last && m_last->time < shown.end && mark.span.begin >= shown.begin;
        if (passes && m_last->y != place.y)
            out.steps.push_back({m_last->x, m_last->y, x0, place.y});
        m_last = End{x1, place.y, mark.span.end};
        if (!place.inView || mark.span.end <= shown.begin || mark.span.begin >= shown.end) return;
        const std::int32_t from = std::min(x0, viewport.width - 1);
        const PathStroke stroke{from, std::max(x1, from + 1), place.y, mark.pause};
        // Pieces of one row that follow each other are one line.
        if (!out.strokes.empty() && out.strokes.back().y == stroke.y &&
            out.strokes.back().pause == stroke.pause && out.strokes.back().x1 >= stroke.x0) {
            out.strokes.back().x1 = std::max(out.strokes.back().x1, stroke.x1);
        } else {
            out.strokes.push_back(stroke);
        }
    }

    static constexpr std::int32_t kOutside = 4;
    const PathMarks& m_marks;
    const Frame& m_frame;
    const LodIndex& m_index;
    const LaneTree& m_tree;
    const std::int32_t m_scroll;
    std::optional<End> m_last;
};

// Veils of one row, from left to right.
class Veils {
  public:
    Veils(const PathMarks& marks, const Frame& frame, std::size_t row, const LodIndex& index,
          std::vector<SlackVeil>& out)
        : m_marks(marks), m_frame(frame), m_position(row), m_index(index), m_out(out) {}

    void draw() {
        const FrameRow& row = m_frame.rows[m_position];
        const RowIndex* events = rowAt(m_index, row.place);
        if (events == nullptr || events->size() == 0) return;
        std::int32_t x = 0;
        for (const Box& box : row.boxes) {
            cover(row, *events, x, box.x0);
            add(box.x0, box.x1, box.event, kWhole, false);
            x = box.x1;
        }
        cover(row, *events, x, static_cast<std::int32_t>(row.cells.size()));
    }

  private:
    // Columns of cells, each stretch of them that shows something at once.
    void cover(const FrameRow& row, const RowIndex& events, std::int32_t x0, std::int32_t x1) {
        const auto shows = [&](std::int32_t x) {
            return row.cells[static_cast<std::size_t>(x)].occupancy > 0;
        };
        for (std::int32_t x = x0; x < x1;) {
            if (!shows(x)) {
                ++x;
                continue;
            }
            std::int32_t end = x;
            m_bounds.assign(1, timeAt(m_frame.viewport, x));
            while (end < x1 && shows(end)) m_bounds.push_back(timeAt(m_frame.viewport, ++end));
            m_summaries.resize(m_bounds.size() - 1);
            events.summarise(m_bounds, m_summaries, m_bookmark);
            for (const Summary& summary : m_summaries) {
                // What is pale already, because little of it was busy, must not look idle.
                add(x, x + 1, summary.longest, row.cells[static_cast<std::size_t>(x)].occupancy,
                    true);
                ++x;
            }
        }
    }

    static constexpr std::uint8_t kWhole = 255;

    void add(std::int32_t x0, std::int32_t x1, trace::EventId event, std::uint8_t occupancy,
             bool joins) {
        if (!event.valid()) return;
        const auto slack = m_marks.slackOf(event);
        const int whole = slack ? paleness(*slack, m_marks.palest) : 0;
        const auto share = static_cast<std::uint8_t>(whole * occupancy / kWhole);
        if (share == 0) return;
        const bool follows = joins && !m_out.empty() && m_out.back().row == m_position &&
                             m_out.back().x1 == x0 && m_out.back().paleness == share;
        if (follows) {
            m_out.back().x1 = x1;
        } else {
            m_out.push_back({m_position, x0, x1, share});
        }
    }

    const PathMarks& m_marks;
    const Frame& m_frame;
    const std::size_t m_position;
    const LodIndex& m_index;
    std::vector<SlackVeil>& m_out;
    RowIndex::Bookmark m_bookmark = 0;
    std::vector<base::TraceTime> m_bounds;
    std::vector<Summary> m_summaries;
};

}  // namespace

PathFrame layOutPath(const PathMarks& marks, const Frame& frame, const LodIndex& index,
                     const LaneTree& tree, std::int32_t scroll) {
    PathFrame out;
    const base::Interval shown = intersect(marks.window, visible(frame.viewport));
    if (shown.empty()) return out;
    Line(marks, frame, index, tree, scroll).drawInto(out);
    if (marks.slack.empty() || marks.palest.ns <= 0) return out;
    for (std::size_t row = 0; row < frame.rows.size(); ++row)
        Veils(marks, frame, row, index, out.veils).draw();
    return out;
}

std::string pathText(const PathFrame& path) {
    std::string text;
    for (const PathStroke& stroke : path.strokes) {
        text += fmt::format("{} {}..{} y {}\n", stroke.pause ? "pause" : "path", stroke.x0,
                            stroke.x1, stroke.y);
    }
    for (const PathStep& step : path.steps)
        text += fmt::format("step {},{} to {},{}\n", step.x0, step.y0, step.x1, step.y1);
    for (const SlackVeil& veil : path.veils) {
        text +=
            fmt::format("veil row {} {}..{} {}/255\n", veil.row, veil.x0, veil.x1, veil.paleness);
    }
    return text;
}

}  // namespace pleat::timeline
