// What is drawn over and beside the rows of a timeline: names, ruler, headers of lanes, outlines
// and arrows. It draws what it is told to, and decides nothing. One thread, the painter's.
#pragma once

#include <QHash>
#include <QPainter>
#include <QStaticText>
#include <QStringList>
#include <vector>

#include "timeline/event_links.h"
#include "timeline/frame.h"
#include "timeline/palette.h"
#include "timeline/path_layout.h"
#include "timeline/ruler.h"

namespace pleat::widgets {

// Where the parts of a timeline lie in its widget, pixels.
inline constexpr int kHeaderWidth = 190, kRulerHeight = 38;

// A moment with a word at the ruler: an iteration's begin, a bookmark.
struct RulerMark {
    base::TraceTime time;
    QString text;
    bool bookmark = false;
};

// A line of the headers.
struct HeaderLine {
    timeline::PlacedRow place;
    QString title;
    bool collapsible = false, collapsed = false, pinned = false;
};

class TimelinePainter {
  public:
    explicit TimelinePainter(timeline::Theme theme) : m_palette(&timeline::palette(theme)) {}

    // `rows` is the rectangle of the rows within the widget; `scale` columns of a frame are a pixel
    // of it. Names stay readable under veils.
    void paintLabels(QPainter& painter, const QRect& rows, const timeline::Frame& frame,
                     const timeline::PathFrame& path, double scale, std::int32_t pinnedHeight);
    // What has slack comes closer to the background; before names.
    void paintVeils(QPainter& painter, const QRect& rows, const timeline::Frame& frame,
                    const timeline::PathFrame& path, double scale, std::int32_t pinnedHeight) const;
    void paintPath(QPainter& painter, const QRect& rows, const timeline::PathFrame& path,
                   double scale) const;
    void paintRuler(QPainter& painter, const QRect& ruler, const timeline::Viewport& viewport,
                    base::TraceTime zero, const std::vector<RulerMark>& marks) const;
    // Lines through the rows at the marks.
    void paintMarkLines(QPainter& painter, const QRect& rows, const timeline::Viewport& viewport,
                        const std::vector<RulerMark>& marks) const;
    void paintHeaders(QPainter& painter, const QRect& headers, const std::vector<HeaderLine>& lines,
                      std::int32_t pinnedHeight) const;
    // Around an event, cut off at the rectangle of the rows; `strong` for the selected one.
    void paintOutline(QPainter& painter, const QRect& rows, const QRect& box, bool strong) const;
    void paintArrow(QPainter& painter, const QRect& rows, QPointF from, QPointF to,
                    timeline::ArrowKind kind) const;
    void paintArea(QPainter& painter, const QRect& rows, const QRect& area,
                   const QString& text) const;

  private:
    [[nodiscard]] const QStaticText& labelText(std::string_view text, int width,
                                               const QPainter& painter);

    const timeline::Palette* m_palette;
    // Laid out texts by the name's address in the trace and the room there is; a name is laid out
    // once, not once a frame.
    QHash<std::pair<const void*, int>, QStaticText> m_texts;
};

[[nodiscard]] QColor colourOf(timeline::Rgb rgb);

}  // namespace pleat::widgets
