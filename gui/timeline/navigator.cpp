#include "timeline/navigator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace pleat::timeline {
namespace {

constexpr double kZoomStep = 0.8, kPanShare = 0.1;
constexpr double kRowsPerNotch = 3;
constexpr double kToTheEdge = 1e15;  // pixels

}  // namespace

void Navigator::start(base::Interval whole) {
    m_whole = whole;
    m_scroll = 0;
    m_view = fitted(m_whole, m_view.width);
    m_history = NavigationHistory(m_view);
}

void Navigator::setWhole(base::Interval whole) {
    m_whole = whole;
    m_view = clamped(m_view, m_whole);
}

void Navigator::resize(std::int32_t width, std::int32_t height) {
    m_height = std::max(height, 1);
    m_history.fit(m_whole, std::max(width, 1));
    m_view = m_history.current();
    scrollTo(m_scroll);
}

void Navigator::setRows(std::int32_t height, std::int32_t rowHeight) {
    m_rowsHeight = height;
    m_rowHeight = rowHeight;
    scrollTo(m_scroll);
}

std::int32_t Navigator::mostScroll() const { return std::max(m_rowsHeight - m_height, 0); }

void Navigator::show(const Viewport& view, Motion motion) {
    m_view = clamped(view, m_whole);
    m_history.record(m_view, motion);
}

void Navigator::showRange(base::Interval range, double margin) {
    const Viewport exact = fitted(range, m_view.width);
    show(margin == 1 ? exact : zoomedAround(exact, exact.width / 2.0, margin));
}

void Navigator::zoom(double x, double factor) {
    show(zoomedAround(m_view, x, factor), Motion::Continues);
}

void Navigator::pan(double pixels) { show(panned(m_view, pixels), Motion::Continues); }

void Navigator::scrollTo(std::int32_t scroll) { m_scroll = std::clamp(scroll, 0, mostScroll()); }

bool Navigator::undo() {
    const auto view = m_history.undo();
    if (view) m_view = *view;
    return view.has_value();
}

bool Navigator::redo() {
    const auto view = m_history.redo();
    if (view) m_view = *view;
    return view.has_value();
}

void Navigator::follow(const Navigator& other, base::Duration later) {
    m_history = other.m_history.shifted(later);
    m_view = fitted(m_history.current(), m_whole, m_view.width);
}

double Navigator::zoomCentre() const {
    const bool within = m_pointer && m_pointer->x >= 0 && m_pointer->x < m_view.width &&
                        m_pointer->y >= 0 && m_pointer->y < m_height;
    return within ? m_pointer->x : m_view.width / 2.0;
}

bool Navigator::press(std::string_view key) {
    using Action = void (*)(Navigator&);
    struct Meaning {
        std::string_view key;
        Action action;
    };
    static constexpr std::array<Meaning, 13> kMeanings = {{
        {"W", [](Navigator& n) { n.zoom(n.zoomCentre(), kZoomStep); }},
        {"S", [](Navigator& n) { n.zoom(n.zoomCentre(), 1 / kZoomStep); }},
        {"A", [](Navigator& n) { n.pan(-n.m_view.width * kPanShare); }},
        {"D", [](Navigator& n) { n.pan(n.m_view.width * kPanShare); }},
        {"F", [](Navigator& n) { n.showWhole(); }},
        {"Up", [](Navigator& n) { n.scrollTo(n.m_scroll - n.m_rowHeight); }},
        {"Down", [](Navigator& n) { n.scrollTo(n.m_scroll + n.m_rowHeight); }},
        {"PgUp", [](Navigator& n) { n.scrollTo(n.m_scroll - n.m_height); }},
        {"PgDown", [](Navigator& n) { n.scrollTo(n.m_scroll + n.m_height); }},
        {"Home", [](Navigator& n) { n.show(panned(n.m_view, -kToTheEdge)); }},
        {"End", [](Navigator& n) { n.show(panned(n.m_view, kToTheEdge)); }},
        {"Undo", [](Navigator& n) { (void)n.undo(); }},
        {"Redo", [](Navigator& n) { (void)n.redo(); }},
    }};
    const auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                    [&](const Meaning& meaning) { return meaning.key == key; });
    if (found == kMeanings.end()) return false;
    found->action(*this);
    return true;
}

void Navigator::turn(const Wheel& wheel) {
    const bool moves = wheel.along || wheel.x != 0;
    if (wheel.zooms || (!moves && mostScroll() == 0)) {
        zoom(wheel.at.x, std::pow(kZoomStep, wheel.y));
    } else if (moves) {
        pan(-(wheel.x != 0 ? wheel.x : wheel.y) * m_view.width * kPanShare);
    } else {
        scrollTo(m_scroll - static_cast<std::int32_t>(wheel.y * kRowsPerNotch * m_rowHeight));
    }
}

void Navigator::pointerDown(Point at, bool drawsArea) {
    m_gesture = Gesture::Click;
    m_drawsArea = drawsArea;
    m_pressed = m_last = at;
    m_pressedView = m_view;
    m_pressedScroll = m_scroll;
}

Gesture Navigator::pointerMoved(Point to) {
    if (m_gesture == Gesture::None) return m_gesture;
    m_last = to;
    const Point moved{to.x - m_pressed.x, to.y - m_pressed.y};
    if (m_gesture == Gesture::Click && std::abs(moved.x) + std::abs(moved.y) > kClickSlack)
        m_gesture = m_drawsArea ? Gesture::Area : Gesture::Move;
    if (m_gesture == Gesture::Move) {
        show(panned(m_pressedView, -moved.x), Motion::Continues);
        scrollTo(m_pressedScroll - moved.y);
    }
    return m_gesture;
}

Gesture Navigator::pointerUp() {
    if (m_gesture == Gesture::Move) endMotion();
    return std::exchange(m_gesture, Gesture::None);
}

DrawnArea Navigator::drawnArea() const {
    const auto [left, right] = std::minmax(m_pressed.x, m_last.x);
    const auto [top, bottom] = std::minmax(m_pressed.y, m_last.y);
    return {{timeAt(m_view, std::max(left, 0)), timeAt(m_view, std::min(right, m_view.width - 1))},
            top + m_scroll,
            bottom + m_scroll};
}

std::string Navigator::text() const {
    const base::Interval shown = visible(m_view);
    return fmt::format("{} .. {} ns at {:g} ns/px, rows {} .. {} of {}", shown.begin.ns,
                       shown.end.ns, m_view.nsPerPixel, m_scroll,
                       std::min(m_scroll + m_height, m_rowsHeight), m_rowsHeight);
}

}  // namespace pleat::timeline
