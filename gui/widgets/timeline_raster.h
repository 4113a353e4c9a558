// The rows of a Frame as pixels: every row is composed as one line, which is then copied down the
// row's height, so that even rows of a million events cost what their columns do. The copies are
// made in a strip as high as one row, which stays in the processor's cache: a picture of 8 million
// pixels goes to memory once. Names and lines are drawn over it (timeline_painter.h). One thread at
// a time; buffers are kept for the next frame.
#pragma once

#include <QImage>
#include <QPainter>
#include <vector>

#include "timeline/frame.h"
#include "timeline/palette.h"
#include "timeline/worker_pool.h"

namespace pleat::widgets {

// Where a line of the picture is visible: [top, bottom) from the top of the rows.
struct LineExtent {
    std::int32_t top = 0, bottom = 0;
};

[[nodiscard]] LineExtent visibleExtent(const timeline::PlacedRow& place, std::int32_t pinnedHeight,
                                       std::int32_t height);

class TimelineRaster {
  public:
    // Fills the rectangle of the rows. A column of the frame is one of the device's: `scale` of
    // them are a pixel of the painter, in which heights are given. Lines that scroll are cut off at
    // `pinnedHeight`, above which pinned lanes stand.
    void paint(QPainter& painter, QPoint topLeft, const timeline::Frame& frame, double scale,
               std::int32_t pinnedHeight, timeline::Theme theme, timeline::WorkerPool& pool);

  private:
    [[nodiscard]] QRgb* lineOf(std::size_t row) { return &m_lines[row * m_width]; }
    void paintRow(QPainter& painter, QPoint topLeft, const QRgb* line, double scale,
                  std::int32_t height);

    std::size_t m_width = 0;
    std::vector<QRgb> m_lines;  // one a row of the frame
    QImage m_strip;
};

// The colour of a cell: the less of its time was busy, the closer to the background; an event
// shows however short it is.
[[nodiscard]] QRgb cellColour(timeline::Cell cell, const timeline::Palette& palette);

}  // namespace pleat::widgets
