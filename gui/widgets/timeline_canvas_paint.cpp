// How a TimelineCanvas paints: rows from the raster, then everything over and beside them.
#include <QPaintEvent>
#include <algorithm>
#include <cmath>

#include "models/text.h"
#include "widgets/timeline_canvas.h"

namespace pleat::widgets {

using timeline::Arrow;
using timeline::ArrowKind;
using trace::EventId;
using trace::LaneId;

namespace {

constexpr std::size_t kMostArrows = 400;

}  // namespace

void TimelineCanvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (!m_data || m_data->trace().eventCount() == 0) {
        painter.fillRect(rect(), colourOf(timeline::palette(m_theme).background));
        return paintHint(painter, m_data ? tr("This trace has no events.") : QString());
    }
    const QRect rows = rowsRect();
    const std::vector<RulerMark> marks = rulerMarks();
    paintRows(painter);
    m_painter->paintMarkLines(painter, rows, view(), marks);
    m_painter->paintPath(painter, rows, pathOfFrame(), devicePixelRatioF());
    paintSelection(painter);
    paintArrows(painter);
    m_painter->paintRuler(painter, QRect(kHeaderWidth, 0, rows.width(), kRulerHeight), view(),
                          whole().begin, marks);
    m_painter->paintHeaders(painter, QRect(0, kRulerHeight, kHeaderWidth, rows.height()),
                            headerLines(), m_tree->pinnedHeight());
    painter.fillRect(0, 0, kHeaderWidth, kRulerHeight, colourOf(timeline::palette(m_theme).header));
    const base::Interval shown = timeline::visible(view());
    painter.setPen(colourOf(timeline::palette(m_theme).text));
    painter.drawText(
        QRect(6, 0, kHeaderWidth - 12, kRulerHeight), Qt::AlignVCenter | Qt::AlignLeft,
        tr("%1 in view")
            .arg(QString::fromStdString(timeline::durationText(shown.end - shown.begin))));
    if (hasFocus()) {
        painter.setPen(QPen(palette().highlight().color(), 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void TimelineCanvas::paintHint(QPainter& painter, const QString& text) const {
    painter.setPen(colourOf(timeline::palette(m_theme).text));
    painter.drawText(rect(), Qt::AlignCenter, text);
}

void TimelineCanvas::paintRows(QPainter& painter) {
    const QRect rows = rowsRect();
    const timeline::Frame& shown = frameInTime();
    const double scale = devicePixelRatioF();
    m_raster.paint(painter, rows.topLeft(), shown, scale, m_tree->pinnedHeight(), m_theme, m_pool);
    const timeline::PathFrame& path = pathOfFrame();
    m_painter->paintVeils(painter, rows, shown, path, scale, m_tree->pinnedHeight());
    m_painter->paintLabels(painter, rows, shown, path, scale, m_tree->pinnedHeight());
}

QRect TimelineCanvas::rectOf(EventId event) const {
    const trace::Event what = m_data->trace().event(event);
    const timeline::PlacedRow place =
        m_tree->locate(what.lane, m_data->index.rowOf(event), scroll());
    const QRect rows = rowsRect();
    const std::int32_t x0 = timeline::edgeAt(view(), what.span.begin);
    const std::int32_t x1 = std::max(timeline::edgeAt(view(), what.span.end), x0 + 2);
    return {rows.left() + x0, rows.top() + place.y, x1 - x0, place.height};
}

void TimelineCanvas::paintSelection(QPainter& painter) {
    const QRect rows = rowsRect();
    const auto outline = [&](EventId event, bool strong) {
        const base::Interval span = m_data->trace().event(event).span;
        const base::Interval shown = timeline::visible(view());
        if (span.end < shown.begin || span.begin > shown.end) return;
        m_painter->paintOutline(painter, rows, rectOf(event), strong);
    };
    for (const EventId event : m_highlighted) outline(event, false);
    if (m_selected.valid()) outline(m_selected, true);
    if (!m_area) return;
    const std::int32_t x0 = timeline::edgeAt(view(), m_area->time.begin);
    const std::int32_t x1 = timeline::edgeAt(view(), m_area->time.end);
    m_painter->paintArea(painter, rows,
                         QRect(rows.left() + x0, rows.top() + m_area->top - scroll(),
                               std::max(x1 - x0, 1), m_area->bottom - m_area->top),
                         QString::fromStdString(timeline::durationText(m_area->time.length())));
}

QPointF TimelineCanvas::pointOf(EventId event, base::TraceTime time) const {
    constexpr double kFar = 20'000;  // what lies outside is cut off anyway
    const QRect box = rectOf(event), rows = rowsRect();
    return {rows.left() + std::clamp(timeline::pixelAt(view(), time), -kFar, kFar),
            box.center().y() + 0.5};
}

void TimelineCanvas::paintArrows(QPainter& painter) {
    const QRect rows = rowsRect();
    std::vector<Arrow> arrows = m_selectedArrows;
    m_arrowsLeft = arrows.size() > kMostArrows ? arrows.size() - kMostArrows : 0;
    arrows.resize(std::min(arrows.size(), kMostArrows));
    if (m_allArrows) {
        std::vector<LaneId> lanes;
        for (const timeline::FrameRow& row : m_builder.frame().rows)
            if (row.place.lane.valid() && (lanes.empty() || lanes.back() != row.place.lane))
                lanes.push_back(row.place.lane);
        const timeline::ArrowsShown all =
            m_data->links.arrowsWithin(lanes, timeline::visible(view()), kMostArrows);
        arrows.insert(arrows.end(), all.arrows.begin(), all.arrows.end());
        m_arrowsLeft += all.left;
    }
    for (const Arrow& arrow : arrows) {
        const base::Interval from = m_data->trace().event(arrow.from).span;
        const base::Interval to = m_data->trace().event(arrow.to).span;
        // A message has come when its receive ends; a collective moves from its last begin on.
        const base::TraceTime head = arrow.kind == ArrowKind::Message      ? to.end
                                     : arrow.kind == ArrowKind::Collective ? from.begin
                                                                           : to.begin;
        m_painter->paintArrow(painter, rows, pointOf(arrow.from, from.begin),
                              pointOf(arrow.to, head), arrow.kind);
    }
    if (m_arrowsLeft == 0) return;
    const QRect words(rows.left() + 6, rows.bottom() - 22, rows.width() - 12, 20);
    painter.setPen(colourOf(timeline::palette(m_theme).text));
    painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                     tr("%n more arrow(s) are not drawn.", nullptr,
                        static_cast<int>(std::min<std::size_t>(m_arrowsLeft, 1'000'000'000))));
}

std::vector<RulerMark> TimelineCanvas::rulerMarks() const {
    std::vector<RulerMark> marks;
    // Bookmarks first: their words get the room.
    for (const models::Bookmark& bookmark : m_bookmarks.all())
        marks.push_back({bookmark.time, bookmark.note.left(60), true});
    const base::Interval shown = timeline::visible(view());
    const auto& iterations = m_data->iterations;
    const auto from = std::partition_point(
        iterations.begin(), iterations.end(),
        [&](const models::IterationMark& mark) { return mark.span.begin < shown.begin; });
    for (auto mark = from; mark != iterations.end() && mark->span.begin < shown.end; ++mark)
        marks.push_back({mark->span.begin, tr("iteration %1").arg(mark->iteration), false});
    std::stable_sort(marks.begin(), marks.end(),
                     [](const RulerMark& a, const RulerMark& b) { return a.time < b.time; });
    return marks;
}

// Of a rank or a lane; cut, with an ellipsis, where it is longer than anybody reads.
QString TimelineCanvas::titleOf(const timeline::PlacedRow& line) const {
    const trace::Trace& trace = m_data->trace();
    return models::shownText(line.lane.valid() ? trace::laneTitle(trace.lanes()[line.lane])
                                               : trace::rankTitle(trace.ranks()[line.rank]));
}

std::vector<HeaderLine> TimelineCanvas::headerLines() const {
    std::vector<HeaderLine> lines;
    for (const timeline::FrameRow& row : m_builder.frame().rows) {
        const timeline::PlacedRow& place = row.place;
        if (!place.lane.valid()) {
            lines.push_back({place, titleOf(place), true, m_tree->collapsed(place.rank), false});
            continue;
        }
        // The name stands at the lane's first row, or at the first that is in view.
        const bool named = lines.empty() || lines.back().place.lane != place.lane;
        if (!named) continue;
        lines.push_back({place, titleOf(place), m_data->index.rows(place.lane).size() > 1,
                         m_tree->collapsed(place.lane), m_tree->pinned(place.lane)});
    }
    return lines;
}

}  // namespace pleat::widgets
