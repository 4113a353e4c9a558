// Navigator: which stretch of time and which part of a column of rows a picture shows, and what
// keys, the wheel and the pointer do to that. Every picture of time has one, so all of them move
// alike; the widget hands events on and paints. What is selected, and what else keys mean, is the
// picture's own affair.
//
// Points are pixels of the rows: x from their left edge, y from the top of what is in view. Time
// never leaves the whole, nor rows what there is of them. Not thread-safe: it belongs to the
// window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "timeline/navigation_history.h"
#include "timeline/viewport.h"

namespace pleat::timeline {

struct Point {
    std::int32_t x = 0, y = 0;
};

inline constexpr std::int32_t kClickSlack = 3;  // pixels that a click may move

// Turned by notches: up and to the left are positive. Zooms also where all rows are in view.
struct Wheel {
    double x = 0, y = 0;
    bool zooms = false;  // with Ctrl
    bool along = false;  // with Shift: moves in time
    Point at;
};

// What the pointer drew: a stretch of time and of the rows' whole height.
struct DrawnArea {
    base::Interval time;
    std::int32_t top = 0, bottom = 0;
    friend bool operator==(const DrawnArea&, const DrawnArea&) = default;
};

enum class Gesture : std::uint8_t {
    None,   // no button is held
    Click,  // pressed, and hardly moved since (kClickSlack)
    Move,   // drags the picture
    Area,   // draws an area
};

class Navigator {
  public:
    // As if just opened: all of `whole` is in view, rows from the top, and there is no way back.
    void start(base::Interval whole);
    // Another whole, the same way back; what is in view is moved into it.
    void setWhole(base::Interval whole);
    // Of the rows in view, in pixels.
    void resize(std::int32_t width, std::int32_t height);
    void setRows(std::int32_t height, std::int32_t rowHeight);

    [[nodiscard]] const Viewport& view() const { return m_view; }
    [[nodiscard]] base::Interval whole() const { return m_whole; }
    [[nodiscard]] std::int32_t scroll() const { return m_scroll; }
    [[nodiscard]] std::int32_t mostScroll() const;

    void show(const Viewport& view, Motion motion = Motion::Jump);
    // `margin` 1.1: a tenth more than the range.
    void showRange(base::Interval range, double margin = 1);
    void showWhole() { showRange(m_whole); }
    // Around x; a factor below 1 shows less time.
    void zoom(double x, double factor);
    void pan(double pixels);
    void scrollTo(std::int32_t scroll);
    // False where there is nothing to undo or redo.
    bool undo();
    bool redo();
    // The same way back, that much later: of a picture that moves together with another.
    void follow(const Navigator& other, base::Duration later);
    // Motion paused: what moves from now on is a step of its own.
    void endMotion() { m_history.endMotion(); }

    // Where keys zoom: under the pointer; in the middle while it is elsewhere.
    void pointAt(std::optional<Point> pointer) { m_pointer = pointer; }
    [[nodiscard]] double zoomCentre() const;

    // By its name: W S A D F Up Down PgUp PgDown Home End Undo Redo. False for any other.
    bool press(std::string_view key);
    void turn(const Wheel& wheel);

    // The main button goes down, moves while held, goes up. Tells what it has been up to then.
    void pointerDown(Point at, bool drawsArea);
    Gesture pointerMoved(Point to);
    Gesture pointerUp();
    // Since the button went down, with Gesture::Area.
    [[nodiscard]] DrawnArea drawnArea() const;

    // "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200".
    [[nodiscard]] std::string text() const;

  private:
    base::Interval m_whole;
    Viewport m_view;
    NavigationHistory m_history{m_view};
    std::int32_t m_height = 1;  // in view
    std::int32_t m_rowsHeight = 0, m_rowHeight = 1;
    std::int32_t m_scroll = 0;
    std::optional<Point> m_pointer;

    Gesture m_gesture = Gesture::None;
    bool m_drawsArea = false;
    Point m_pressed, m_last;
    Viewport m_pressedView;
    std::int32_t m_pressedScroll = 0;
};

}  // namespace pleat::timeline
