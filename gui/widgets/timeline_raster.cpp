#include "widgets/timeline_raster.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pleat::widgets {
namespace {

using timeline::Palette;
using timeline::Rgb;

QRgb opaque(Rgb colour) { return qRgb(colour.red, colour.green, colour.blue); }

// `share` of 255 parts of `over`, the rest of `under`.
QRgb mixed(Rgb under, Rgb over, int share) {
    const auto part = [&](std::uint8_t a, std::uint8_t b) {
        return (a * (255 - share) + b * share) / 255;
    };
    return qRgb(part(under.red, over.red), part(under.green, over.green),
                part(under.blue, over.blue));
}

// Neighbours of one colour are told apart by a darker last pixel.
void composeBox(const timeline::Box& box, const Palette& palette, QRgb* line) {
    constexpr int kEdge = 90;  // of 255
    constexpr std::int32_t kLeastWithEdge = 3;
    const Rgb colour = palette.events[box.colour];
    std::fill(line + box.x0, line + box.x1, opaque(colour));
    if (box.x1 - box.x0 >= kLeastWithEdge) line[box.x1 - 1] = mixed(colour, {0, 0, 0}, kEdge);
}

void composeRow(const timeline::FrameRow& row, const Palette& palette, QRgb* line) {
    for (std::size_t x = 0; x < row.cells.size(); ++x) line[x] = cellColour(row.cells[x], palette);
    for (const timeline::Box& box : row.boxes) composeBox(box, palette, line);
}

}  // namespace

LineExtent visibleExtent(const timeline::PlacedRow& place, std::int32_t pinnedHeight,
                         std::int32_t height) {
    const std::int32_t end = place.y + place.height;
    // What ends below the pinned lanes is none of them.
    const std::int32_t top = end > pinnedHeight ? std::max(place.y, pinnedHeight) : place.y;
    return {std::clamp(top, 0, height), std::clamp(end, 0, height)};
}

QRgb cellColour(timeline::Cell cell, const Palette& palette) {
    constexpr int kLeast = 70;  // of 255
    if (cell.occupancy == 0) return opaque(palette.background);
    const int share = cell.instant ? 255 : kLeast + cell.occupancy * (255 - kLeast) / 255;
    return mixed(palette.background, palette.events[cell.colour], share);
}

void TimelineRaster::paintRow(QPainter& painter, QPoint topLeft, const QRgb* line, double scale,
                              std::int32_t height) {
    const int lines = static_cast<int>(std::ceil(height * scale));
    if (m_strip.width() != static_cast<int>(m_width) || m_strip.height() < lines)
        m_strip = QImage(static_cast<int>(m_width), lines, QImage::Format_RGB32);
    m_strip.setDevicePixelRatio(scale);
    for (int y = 0; y < lines; ++y) std::memcpy(m_strip.scanLine(y), line, m_width * sizeof(QRgb));
    painter.drawImage(topLeft, m_strip, QRect(0, 0, m_strip.width(), lines));
}

void TimelineRaster::paint(QPainter& painter, QPoint topLeft, const timeline::Frame& frame,
                           double scale, std::int32_t pinnedHeight, timeline::Theme theme,
                           timeline::WorkerPool& pool) {
    const Palette& palette = timeline::palette(theme);
    m_width = static_cast<std::size_t>(frame.viewport.width);
    m_lines.resize(frame.rows.size() * m_width);
    pool.forEach(frame.rows.size(), [&](std::size_t i) {
        if (frame.rows[i].place.row >= 0) composeRow(frame.rows[i], palette, lineOf(i));
    });
    const int width = static_cast<int>(std::ceil(frame.viewport.width / scale));
    std::int32_t painted = 0;  // from the top
    const auto fillTo = [&](std::int32_t y) {
        painter.fillRect(topLeft.x(), topLeft.y() + painted, width, y - painted,
                         QColor(opaque(palette.background)));
        painted = std::max(painted, y);
    };
    for (std::size_t i = 0; i < frame.rows.size(); ++i) {
        const timeline::PlacedRow& place = frame.rows[i].place;
        LineExtent extent = visibleExtent(place, pinnedHeight, frame.height);
        // A line of background between rows.
        extent.bottom = std::min(extent.bottom, place.y + place.height - 1);
        if (place.row < 0 || extent.top >= extent.bottom) continue;
        fillTo(extent.top);
        paintRow(painter, topLeft + QPoint(0, extent.top), lineOf(i), scale,
                 extent.bottom - extent.top);
        painted = extent.bottom;
    }
    fillTo(frame.height);
}

}  // namespace pleat::widgets
