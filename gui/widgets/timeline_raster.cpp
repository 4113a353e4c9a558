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

// Pixels are written once: background is filled in only where no row lies.
void TimelineRaster::fillBackground(QRgb colour, std::int32_t top, std::int32_t bottom) {
    for (std::int32_t y = top; y < bottom; ++y) {
        QRgb* const line = lineAt(y);
        std::fill(line, line + m_image.width(), colour);
    }
}

QRgb* TimelineRaster::lineAt(std::int32_t y) {
    return reinterpret_cast<QRgb*>(m_bits + static_cast<std::size_t>(y) * m_stride);
}

void TimelineRaster::paintRow(const timeline::FrameRow& row, LineExtent extent,
                              const Palette& palette) {
    // A line of background between rows.
    const std::int32_t end = std::min(extent.bottom, row.place.y + row.place.height - 1);
    const bool drawn = row.place.row >= 0 && extent.top < end;
    if (drawn) {
        composeRow(row, palette, lineAt(extent.top));
        for (std::int32_t y = extent.top + 1; y < end; ++y)
            std::memcpy(lineAt(y), lineAt(extent.top),
                        static_cast<std::size_t>(m_image.width()) * sizeof(QRgb));
    }
    fillBackground(opaque(palette.background), drawn ? end : extent.top, extent.bottom);
}

const QImage& TimelineRaster::paint(const timeline::Frame& frame, std::int32_t pinnedHeight,
                                    timeline::Theme theme, timeline::WorkerPool& pool) {
    const Palette& palette = timeline::palette(theme);
    const QSize size(frame.viewport.width, std::max(frame.height, 1));
    if (m_image.size() != size) m_image = QImage(size, QImage::Format_RGB32);
    m_bits = m_image.bits();
    m_stride = static_cast<std::size_t>(m_image.bytesPerLine());
    // A row paints from its top to the next one's; what is left lies above the first.
    std::vector<LineExtent> extents;
    for (const timeline::FrameRow& row : frame.rows)
        extents.push_back(visibleExtent(row.place, pinnedHeight, size.height()));
    for (std::size_t i = 0; i < extents.size(); ++i)
        extents[i].bottom =
            std::max(extents[i].top, i + 1 < extents.size() ? extents[i + 1].top : size.height());
    fillBackground(opaque(palette.background), 0,
                   extents.empty() ? size.height() : extents.front().top);
    pool.forEach(frame.rows.size(),
                 [&](std::size_t i) { paintRow(frame.rows[i], extents[i], palette); });
    return m_image;
}

}  // namespace pleat::widgets
