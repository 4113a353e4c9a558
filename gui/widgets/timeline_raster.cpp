#include "widgets/timeline_raster.h"

#include <algorithm>
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
    const int share = kLeast + cell.occupancy * (255 - kLeast) / 255;
    return mixed(palette.background, palette.events[cell.colour], share);
}

const QImage& TimelineRaster::paint(const timeline::Frame& frame, std::int32_t pinnedHeight,
                                    timeline::Theme theme, timeline::WorkerPool& pool) {
    const Palette& palette = timeline::palette(theme);
    const QSize size(frame.viewport.width, std::max(frame.height, 1));
    if (m_image.size() != size) m_image = QImage(size, QImage::Format_RGB32);
    m_image.fill(opaque(palette.background));
    uchar* const bits = m_image.bits();
    const auto stride = static_cast<std::size_t>(m_image.bytesPerLine());
    pool.forEach(frame.rows.size(), [&](std::size_t i) {
        const timeline::FrameRow& row = frame.rows[i];
        if (row.place.row < 0) return;
        LineExtent extent = visibleExtent(row.place, pinnedHeight, size.height());
        // A line of background between rows.
        extent.bottom = std::min(extent.bottom, row.place.y + row.place.height - 1);
        if (extent.top >= extent.bottom) return;
        uchar* const first = bits + static_cast<std::size_t>(extent.top) * stride;
        composeRow(row, palette, reinterpret_cast<QRgb*>(first));
        for (std::int32_t y = extent.top + 1; y < extent.bottom; ++y)
            std::memcpy(bits + static_cast<std::size_t>(y) * stride, first,
                        static_cast<std::size_t>(size.width()) * sizeof(QRgb));
    });
    return m_image;
}

}  // namespace pleat::widgets
