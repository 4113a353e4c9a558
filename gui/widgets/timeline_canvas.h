// The timeline: lanes from top to bottom, time from left to right. It shows a stretch of time at a
// scroll, lets a person move through it by keys, mouse and gestures, and says what was pointed at
// and selected. What lies where is decided by gui/timeline; here it is painted and wired. Widgets'
// thread.
#pragma once

#include <QPoint>
#include <QTimer>
#include <QWidget>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/bookmarks.h"
#include "models/timeline_data.h"
#include "timeline/event_steps.h"
#include "timeline/frame_builder.h"
#include "timeline/frame_hit.h"
#include "timeline/navigator.h"
#include "timeline/path_layout.h"
#include "widgets/timeline_painter.h"
#include "widgets/timeline_raster.h"

namespace pleat::widgets {

// A stretch of time on some lines, drawn with shift and the mouse.
struct TimelineArea {
    base::Interval time;
    std::int32_t top = 0, bottom = 0;  // of the whole picture, not of what is scrolled into view
    std::vector<trace::LaneId> lanes;  // those within; of collapsed ranks all
};

class TimelineCanvas : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineCanvas(QWidget* parent = nullptr);

    // What is shown from now on, from its begin to its end; null: nothing. With `keepPlace` the
    // stretch of time, the scroll and what is collapsed stay as far as the new trace has them.
    void setData(std::shared_ptr<const models::TimelineData> data, bool keepPlace = false);
    [[nodiscard]] const models::TimelineData* data() const { return m_data.get(); }

    [[nodiscard]] const timeline::Viewport& view() const { return m_navigator.view(); }
    [[nodiscard]] int scroll() const { return m_navigator.scroll(); }
    [[nodiscard]] int contentHeight() const { return m_tree ? m_tree->height() : 0; }
    [[nodiscard]] QRect rowsRect() const;
    // Null without data.
    [[nodiscard]] const timeline::LaneTree* tree() const { return m_tree.get(); }
    // The picture as numbers; up to date and exact. Its columns are the screen's own pixels, of
    // which devicePixelRatioF() are one of the widget's.
    [[nodiscard]] const timeline::Frame& frame();
    // What was painted last was not exact everywhere; a better one follows by itself.
    [[nodiscard]] bool refining() const { return !m_stale && !m_builder.exact(); }
    // What is drawn over it of the critical path; empty while that is not shown.
    [[nodiscard]] const timeline::PathFrame& pathFrame();

    void showWhole();
    void showRange(base::Interval range);  // with a margin
    void zoom(double factor);              // at the cursor
    void pan(double pixels);
    void setScroll(int scroll);
    void undoNavigation();
    void redoNavigation();
    // Shows an event, no more zoomed in than needed to see how long it is.
    void showReadable(trace::EventId event);
    // False where there is no such iteration.
    bool goToIteration(std::int32_t iteration);

    // Invalid: nothing. Brings it into view and says it.
    void select(trace::EventId event);
    [[nodiscard]] trace::EventId selected() const { return m_selected; }
    [[nodiscard]] trace::EventId pointed() const { return m_pointed; }
    // The event pointed at with all of its communication.
    [[nodiscard]] const std::vector<trace::EventId>& highlighted() const { return m_highlighted; }
    [[nodiscard]] const std::optional<TimelineArea>& area() const { return m_area; }
    void clearSelection();
    void followArrow(timeline::Direction direction);
    void stepToSameKind(timeline::Direction direction);
    void stepInRow(timeline::Direction direction);
    void bringIntoView(trace::RankId rank);

    void setCollapsed(trace::RankId rank, bool collapsed);
    void setCollapsed(trace::LaneId lane, bool collapsed);
    void setAllCollapsed(bool collapsed);
    void setPinned(trace::LaneId lane, bool pinned);
    void move(trace::RankId rank, trace::RankId before);
    void move(trace::LaneId lane, trace::LaneId before);

    void setColourMode(timeline::ColourMode mode);
    [[nodiscard]] const timeline::EventColours* colours() const { return m_colours; }
    void setTheme(timeline::Theme theme);
    [[nodiscard]] timeline::Theme theme() const { return m_theme; }
    // All arrows in view, not only those of the selected event.
    void setAllArrows(bool all);
    // Of events of the trace shown; null: of none.
    void setPath(std::shared_ptr<const timeline::PathMarks> marks);
    [[nodiscard]] const timeline::PathMarks* path() const { return m_path.get(); }
    // The critical path in place, and events the paler, the more slack they have.
    void setPathShown(bool shown);
    [[nodiscard]] bool pathShown() const { return m_pathShown; }
    [[nodiscard]] bool allArrows() const { return m_allArrows; }
    // What was not drawn of them last time.
    [[nodiscard]] std::size_t arrowsLeft() const { return m_arrowsLeft; }

    void setBookmarks(models::Bookmarks bookmarks);
    [[nodiscard]] const models::Bookmarks& bookmarks() const { return m_bookmarks; }
    // At the selected event's begin, else at the cursor.
    void addBookmark();
    void setNote(base::TraceTime bookmark, const QString& note);
    void removeBookmark(base::TraceTime bookmark);

    // What the pointer tells when it rests here; empty: nothing.
    [[nodiscard]] QString toolTipAt(QPoint position);
    // One line for a person: "gemm, 1.234 ms, at 17.200 ms, rank 0 / stream 7".
    [[nodiscard]] QString factsOf(trace::EventId event) const;

  signals:
    void viewChanged();                                   // time, scroll, heights
    void eventSelected(pleat::trace::EventId event);      // invalid: nothing at all
    void eventPointed(pleat::trace::EventId event);       // invalid: none any more
    void areaSelected(const pleat::base::Interval& time,  // empty: none any more
                      const std::vector<pleat::trace::LaneId>& lanes);
    void bookmarksChanged();
    void bookmarkActivated(pleat::base::TraceTime bookmark);  // double-clicked
    void searchWanted();
    void allArrowsChanged(bool all);
    void pathShownChanged(bool shown);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    // A change of the picture: build it anew, say so.
    void changed();
    // The navigator moved: motion goes on.
    void moved();
    // Up to date, but as exact only as there is time for: while a person moves, the next picture
    // matters more.
    const timeline::Frame& frameInTime();
    void buildFrame(timeline::Deadline deadline);
    // What is in view, in columns of the frame.
    [[nodiscard]] timeline::Viewport frameView() const;
    // Over the frame as it is, however exact.
    const timeline::PathFrame& pathOfFrame();
    void setView(const timeline::Viewport& view, timeline::Motion motion);
    [[nodiscard]] base::Interval whole() const;
    void revealEvent(trace::EventId event);
    void restorePlace(const timeline::LaneTree& before, const trace::Trace& trace,
                      base::Interval wholeBefore);
    [[nodiscard]] QRect rectOf(trace::EventId event) const;
    [[nodiscard]] QPointF pointOf(trace::EventId event, base::TraceTime time) const;
    [[nodiscard]] std::vector<RulerMark> rulerMarks() const;
    [[nodiscard]] std::vector<HeaderLine> headerLines() const;
    [[nodiscard]] QString titleOf(const timeline::PlacedRow& line) const;
    void paintRows(QPainter& painter);
    void paintArrows(QPainter& painter);
    void paintSelection(QPainter& painter);
    void paintHint(QPainter& painter, const QString& text) const;
    // By its name (navigation_input.h); false for one that means nothing here.
    bool press(const std::string& key);
    [[nodiscard]] std::optional<timeline::FrameHit> hit(QPoint position);
    void point(trace::EventId event);
    void updateArea();
    void finishArea();
    void showSelection();
    void clickHeader(QPoint position);
    void dropHeader(QPoint from, QPoint to);
    [[nodiscard]] std::optional<timeline::PlacedRow> lineAt(QPoint position) const;

    std::shared_ptr<const models::TimelineData> m_data;
    std::unique_ptr<timeline::LaneTree> m_tree;
    timeline::WorkerPool m_pool;
    timeline::FrameBuilder m_builder{m_pool};
    TimelineRaster m_raster;
    timeline::Theme m_theme = timeline::Theme::Light;
    std::unique_ptr<TimelinePainter> m_painter;
    timeline::Navigator m_navigator;
    QTimer m_motionEnd;       // motion that pauses is over
    bool m_stale = true;      // the frame is not what the members say
    bool m_pathStale = true;  // nor is what is drawn of the path over it
    std::shared_ptr<const timeline::PathMarks> m_path;
    timeline::PathFrame m_pathFrame;
    bool m_pathShown = false;

    std::array<std::unique_ptr<const timeline::EventColours>, 5> m_colourings;  // made when used
    const timeline::EventColours* m_colours = nullptr;
    trace::EventId m_selected, m_pointed;
    std::vector<timeline::Arrow> m_selectedArrows;
    std::vector<trace::EventId> m_highlighted;
    std::optional<TimelineArea> m_area;
    bool m_allArrows = false;
    std::size_t m_arrowsLeft = 0;
    models::Bookmarks m_bookmarks;

    std::optional<QPoint> m_headerPressed;
};

}  // namespace pleat::widgets
