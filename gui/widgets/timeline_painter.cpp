#include "widgets/timeline_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "models/text.h"
#include "widgets/timeline_raster.h"

namespace pleat::widgets {
namespace {

constexpr int kMargin = 3;

QPolygonF triangle(QPointF at, bool down) {
    constexpr double kSize = 4;
    return down ? QPolygonF({at + QPointF(-kSize, -kSize / 2), at + QPointF(kSize, -kSize / 2),
                             at + QPointF(0, kSize)})
                : QPolygonF({at + QPointF(-kSize / 2, -kSize), at + QPointF(-kSize / 2, kSize),
                             at + QPointF(kSize, 0)});
}

// From now on x counts a frame's columns, of which `scale` are a pixel.
void scaleColumns(QPainter& painter, const QRect& rows, double scale) {
    painter.translate(rows.left(), 0);
    painter.scale(1 / scale, 1);
}

}  // namespace

QColor colourOf(timeline::Rgb rgb) { return QColor(rgb.red, rgb.green, rgb.blue); }

const QStaticText& TimelinePainter::labelText(std::string_view text, int width,
                                              const QPainter& painter) {
    constexpr int kBucket = 8;  // rooms that differ by less share a text
    constexpr qsizetype kMostTexts = 8'192;
    const int room = width / kBucket * kBucket;
    const auto key = std::pair<const void*, int>(text.data(), room);
    const auto found = m_texts.constFind(key);
    if (found != m_texts.constEnd()) return *found;
    if (m_texts.size() >= kMostTexts) m_texts.clear();
    QStaticText laidOut(
        painter.fontMetrics().elidedText(models::shownText(text, 200), Qt::ElideRight, room));
    laidOut.setTextFormat(Qt::PlainText);
    laidOut.setPerformanceHint(QStaticText::AggressiveCaching);
    return *m_texts.insert(key, laidOut);
}

void TimelinePainter::paintLabels(QPainter& painter, const QRect& rows,
                                  const timeline::Frame& frame, const timeline::PathFrame& path,
                                  double scale, std::int32_t pinnedHeight) {
    painter.save();
    painter.setClipRect(rows);
    const int height = painter.fontMetrics().height();
    auto veil = path.veils.begin();
    for (std::size_t i = 0; i < frame.rows.size(); ++i) {
        const timeline::FrameRow& row = frame.rows[i];
        const LineExtent extent = visibleExtent(row.place, pinnedHeight, frame.height);
        // A name that is cut in half is not read.
        if (extent.bottom - extent.top < std::min(height, row.place.height)) continue;
        const int y = rows.top() + row.place.y + (row.place.height - height) / 2;
        for (const timeline::Label& label : row.labels) {
            // Both are ordered by row, then from left to right.
            while (veil != path.veils.end() &&
                   std::pair(veil->row, veil->x0) < std::pair(i, label.x0))
                ++veil;
            const bool veiled = veil != path.veils.end() && veil->row == i && veil->x0 == label.x0;
            const timeline::Rgb under =
                timeline::mixed(m_palette->events[label.colour], m_palette->background,
                                veiled ? veil->paleness / 255.0 : 0);
            painter.setPen(colourOf(timeline::textOn(under)));
            const int x0 = static_cast<int>(label.x0 / scale),
                      x1 = static_cast<int>(label.x1 / scale);
            painter.drawStaticText(rows.left() + x0 + kMargin, y,
                                   labelText(label.text, x1 - x0 - 2 * kMargin, painter));
        }
    }
    painter.restore();
}

void TimelinePainter::paintVeils(QPainter& painter, const QRect& rows, const timeline::Frame& frame,
                                 const timeline::PathFrame& path, double scale,
                                 std::int32_t pinnedHeight) const {
    painter.save();
    scaleColumns(painter, rows, scale);
    QColor veil = colourOf(m_palette->background);
    for (const timeline::SlackVeil& one : path.veils) {
        const timeline::PlacedRow& place = frame.rows[one.row].place;
        const LineExtent extent = visibleExtent(place, pinnedHeight, frame.height);
        veil.setAlpha(one.paleness);
        painter.fillRect(one.x0, rows.top() + extent.top, one.x1 - one.x0,
                         extent.bottom - extent.top, veil);
    }
    painter.restore();
}

// Red alone is not seen by everybody, and lies on other reds: the line is also the only one with a
// border of background.
void TimelinePainter::paintPath(QPainter& painter, const QRect& rows,
                                const timeline::PathFrame& path, double scale) const {
    // Begins between two rows, so that names stay free.
    constexpr int kStroke = 3, kAbove = 1;
    const auto paintAll = [&](const QColor& colour, int border) {
        QPen pen(colour, 2 + 2 * border);
        pen.setCosmetic(true);
        painter.setPen(pen);
        for (const timeline::PathStep& step : path.steps) {
            painter.drawLine(QPointF(step.x0, rows.top() + step.y0),
                             QPointF(step.x1, rows.top() + step.y1));
        }
        for (const timeline::PathStroke& stroke : path.strokes) {
            const int height = stroke.pause ? 1 : kStroke, above = stroke.pause ? 0 : kAbove;
            painter.fillRect(stroke.x0, rows.top() + stroke.y - above - border,
                             stroke.x1 - stroke.x0, height + 2 * border, colour);
        }
    };
    painter.save();
    painter.setClipRect(rows);
    scaleColumns(painter, rows, scale);
    paintAll(colourOf(m_palette->background), 1);
    paintAll(colourOf(m_palette->critical), 0);
    painter.restore();
}

void TimelinePainter::paintRuler(QPainter& painter, const QRect& ruler,
                                 const timeline::Viewport& viewport, base::TraceTime zero,
                                 const std::vector<RulerMark>& marks) const {
    constexpr int kTickSpacing = 110;
    painter.save();
    painter.setClipRect(ruler);
    painter.fillRect(ruler, colourOf(m_palette->header));
    painter.setPen(colourOf(m_palette->text));
    const int middle = ruler.top() + ruler.height() / 2;
    for (const timeline::Tick& tick : timeline::rulerTicks(viewport, zero, kTickSpacing)) {
        const int x = ruler.left() + tick.x;
        painter.drawLine(x, middle - 4, x, middle);
        const QString label = QString::fromStdString(tick.label);
        // Half a number reads as another one.
        if (x + kMargin + painter.fontMetrics().horizontalAdvance(label) > ruler.right()) continue;
        painter.drawText(
            QRect(x + kMargin, ruler.top(), kTickSpacing - kMargin, ruler.height() / 2),
            Qt::AlignVCenter | Qt::AlignLeft, label);
    }
    int freeFrom = ruler.left();
    for (const RulerMark& mark : marks) {
        const double at = timeline::pixelAt(viewport, mark.time);
        if (at < -kHeaderWidth || at >= viewport.width) continue;
        const int x = ruler.left() + static_cast<int>(at);
        if (mark.bookmark) {
            painter.setBrush(colourOf(m_palette->text));
            painter.drawPolygon(triangle(QPointF(x, ruler.bottom() - 5), true));
        }
        // Where marks are dense, those without room keep their line only.
        const int width = painter.fontMetrics().horizontalAdvance(mark.text);
        if (x < freeFrom || mark.text.isEmpty()) continue;
        painter.drawText(QRect(x + 2 * kMargin, middle, width + kMargin, ruler.height() / 2),
                         Qt::AlignVCenter | Qt::AlignLeft, mark.text);
        freeFrom = x + width + 4 * kMargin;
    }
    painter.restore();
}

void TimelinePainter::paintMarkLines(QPainter& painter, const QRect& rows,
                                     const timeline::Viewport& viewport,
                                     const std::vector<RulerMark>& marks) const {
    int last = -1;
    for (const RulerMark& mark : marks) {
        const double at = timeline::pixelAt(viewport, mark.time);
        if (at < 0 || at >= viewport.width) continue;
        const int x = rows.left() + static_cast<int>(at);
        if (x == last) continue;
        last = x;
        painter.setPen(
            QPen(colourOf(m_palette->text), 1, mark.bookmark ? Qt::DashLine : Qt::DotLine));
        painter.drawLine(x, rows.top(), x, rows.bottom());
    }
}

void TimelinePainter::paintHeaders(QPainter& painter, const QRect& headers,
                                   const std::vector<HeaderLine>& lines,
                                   std::int32_t pinnedHeight) const {
    painter.save();
    painter.fillRect(headers, colourOf(m_palette->header));
    painter.setPen(colourOf(m_palette->text));
    painter.setBrush(colourOf(m_palette->text));
    for (const HeaderLine& line : lines) {
        const LineExtent extent = visibleExtent(line.place, pinnedHeight, headers.height());
        painter.setClipRect(QRect(headers.left(), headers.top() + extent.top, headers.width(),
                                  extent.bottom - extent.top));
        const QRect whole(headers.left(), headers.top() + line.place.y, headers.width(),
                          line.place.height);
        const int indent = line.place.lane.valid() ? 12 : 0;
        if (line.collapsible)
            painter.drawPolygon(
                triangle(QPointF(whole.left() + indent + 9, whole.center().y()), !line.collapsed));
        if (line.pinned) painter.drawEllipse(QPointF(whole.right() - 9, whole.center().y()), 3, 3);
        const int textWidth = whole.width() - indent - 18 - 20;
        painter.drawText(QRect(whole.left() + indent + 18, whole.top(), textWidth, whole.height()),
                         Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                         painter.fontMetrics().elidedText(line.title, Qt::ElideRight, textWidth));
    }
    painter.setClipRect(headers);
    if (pinnedHeight > 0) {
        painter.drawLine(headers.left(), headers.top() + pinnedHeight - 2, headers.right(),
                         headers.top() + pinnedHeight - 2);
    }
    painter.restore();
}

void TimelinePainter::paintOutline(QPainter& painter, const QRect& rows, const QRect& box,
                                   bool strong) const {
    painter.save();
    painter.setClipRect(rows);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colourOf(m_palette->highlight), strong ? 2 : 1));
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.restore();
}

void TimelinePainter::paintArrow(QPainter& painter, const QRect& rows, QPointF from, QPointF to,
                                 timeline::ArrowKind kind) const {
    constexpr double kHead = 6;
    painter.save();
    painter.setClipRect(rows);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool communication =
        kind == timeline::ArrowKind::Message || kind == timeline::ArrowKind::Collective;
    painter.setPen(QPen(colourOf(m_palette->highlight), communication ? 1.5 : 1,
                        communication ? Qt::SolidLine : Qt::DashLine));
    QPainterPath path(from);
    const double bend = std::clamp(std::abs(to.x() - from.x()) / 2, 12.0, 80.0);
    path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    painter.setBrush(colourOf(m_palette->highlight));
    painter.setPen(Qt::NoPen);
    painter.drawPolygon(
        QPolygonF({to, to + QPointF(-kHead, -kHead / 2), to + QPointF(-kHead, kHead / 2)}));
    painter.restore();
}

void TimelinePainter::paintArea(QPainter& painter, const QRect& rows, const QRect& area,
                                const QString& text) const {
    painter.save();
    painter.setClipRect(rows);
    QColor fill = colourOf(m_palette->highlight);
    fill.setAlpha(36);
    painter.fillRect(area, fill);
    painter.setPen(QPen(colourOf(m_palette->highlight), 1));
    painter.drawRect(area.adjusted(0, 0, -1, -1));
    painter.drawText(area.adjusted(kMargin, kMargin, 400, 0), Qt::AlignTop | Qt::AlignLeft, text);
    painter.restore();
}

}  // namespace pleat::widgets
