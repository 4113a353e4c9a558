// The rows of a Frame as an image: every row is composed as one line of pixels, which is then
// copied down the row's height, so that even rows of a million events cost what their columns do.
// Names and lines are drawn over it (timeline_painter.h). One thread at a time; the image is kept
// for the next frame.
#pragma once

#include <QImage>

#include "timeline/frame.h"
#include "timeline/palette.h"
#include "timeline/worker_pool.h"

namespace pleat::widgets {

// Where a line of the picture is visible: [top, bottom) from the top of the rows.
struct LineExtent {
    std::int32_t top = 0, bottom = 0;
};

class TimelineRaster {
  public:
    // Lines that scroll are cut off at `pinnedHeight`, above which pinned lanes stand.
    const QImage& paint(const timeline::Frame& frame, std::int32_t pinnedHeight,
                        timeline::Theme theme, timeline::WorkerPool& pool);

  private:
    [[nodiscard]] QRgb* lineAt(std::int32_t y);
    void fillBackground(QRgb colour, std::int32_t top, std::int32_t bottom);
    void paintRow(const timeline::FrameRow& row, LineExtent extent,
                  const timeline::Palette& palette);

    QImage m_image;
    uchar* m_bits = nullptr;  // of the image, while it is painted
    std::size_t m_stride = 0;
};

[[nodiscard]] LineExtent visibleExtent(const timeline::PlacedRow& place, std::int32_t pinnedHeight,
                                       std::int32_t height);

// The colour of a cell: the less of its time was busy, the closer to the background; an event
// shows however short it is.
[[nodiscard]] QRgb cellColour(timeline::Cell cell, const timeline::Palette& palette);

}  // namespace pleat::widgets
