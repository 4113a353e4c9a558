// What a TimelineCanvas does with keys, mouse, wheel and gestures.
#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/navigation_input.h"
#include "widgets/timeline_canvas.h"

namespace pleat::widgets {

using timeline::Direction;
using timeline::Gesture;
using trace::EventId;
using trace::LaneId;
using trace::RankId;

namespace {

constexpr int kPinWidth = 20;

}  // namespace

void TimelineCanvas::resizeEvent(QResizeEvent*) {
    m_navigator.resize(rowsRect().width(), rowsRect().height());
    changed();
}

void TimelineCanvas::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) {
        const bool dark = palette().window().color().lightness() < 128;
        setTheme(dark ? timeline::Theme::Dark : timeline::Theme::Light);
    }
    QWidget::changeEvent(event);
}

bool TimelineCanvas::event(QEvent* event) {
    if (const auto pinch = pinchOf(*event); pinch && m_data) {
        m_navigator.zoom(pinch->x - rowsRect().left(), pinch->factor);
        moved();
        return true;
    }
    if (event->type() == QEvent::ToolTip && m_data) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = toolTipAt(help->pos());
        if (text.isEmpty()) {
            QToolTip::hideText();
        } else {
            QToolTip::showText(help->globalPos(), text, this);
        }
        return true;
    }
    return QWidget::event(event);
}

// Facts of an event; of a line its title, which may stand cut in the header.
QString TimelineCanvas::toolTipAt(QPoint position) {
    if (!m_data) return {};
    if (position.x() < kHeaderWidth) {
        const auto line = lineAt(position);
        return line ? titleOf(*line) : QString();
    }
    const auto under = hit(position);
    return under ? factsOf(under->event) : QString();
}

void TimelineCanvas::keyPressEvent(QKeyEvent* event) {
    std::string key = keyName(*event);
    if (key == "F" && event->modifiers().testFlag(Qt::ShiftModifier)) key = "Shift+F";
    if (!m_data || !press(key)) QWidget::keyPressEvent(event);
}

bool TimelineCanvas::press(const std::string& key) {
    static const KeyActions<TimelineCanvas> s_actions = {
        {"[", [](TimelineCanvas& c) { c.followArrow(Direction::Backward); }},
        {"]", [](TimelineCanvas& c) { c.followArrow(Direction::Forward); }},
        {",", [](TimelineCanvas& c) { c.stepToSameKind(Direction::Backward); }},
        {".", [](TimelineCanvas& c) { c.stepToSameKind(Direction::Forward); }},
        {"Left", [](TimelineCanvas& c) { c.stepInRow(Direction::Backward); }},
        {"Right", [](TimelineCanvas& c) { c.stepInRow(Direction::Forward); }},
        {"M", [](TimelineCanvas& c) { c.addBookmark(); }},
        {"R", [](TimelineCanvas& c) { c.setAllArrows(!c.m_allArrows); }},
        {"C", [](TimelineCanvas& c) { c.setPathShown(!c.m_pathShown); }},
        {"/", [](TimelineCanvas& c) { emit c.searchWanted(); }},
        {"Esc", [](TimelineCanvas& c) { c.clearSelection(); }},
        {"Shift+F", [](TimelineCanvas& c) { c.showSelection(); }}};
    if (runKey(s_actions, key, *this)) return true;
    if (!m_navigator.press(key)) return false;
    moved();
    return true;
}

void TimelineCanvas::showSelection() {
    if (m_area) return showRange(m_area->time);
    if (m_selected.valid()) showRange(m_data->trace().event(m_selected).span);
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
    if (!m_data) return;
    m_navigator.turn(wheelOf(*event, rowsRect().topLeft()));
    moved();
    event->accept();
}

std::optional<timeline::FrameHit> TimelineCanvas::hit(QPoint position) {
    const QRect rows = rowsRect();
    if (!m_data || !rows.contains(position)) return std::nullopt;
    const double scale = devicePixelRatioF();
    return timeline::hitAt(frameInTime(), m_data->index,
                           static_cast<std::int32_t>((position.x() - rows.left()) * scale),
                           position.y() - rows.top());
}

void TimelineCanvas::point(EventId event) {
    if (event == m_pointed) return;
    m_pointed = event;
    m_highlighted.clear();
    if (event.valid()) {
        m_highlighted = m_data->links.partners(event);
        if (m_highlighted.empty()) m_highlighted = {event};
    }
    update();
    emit eventPointed(event);
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event) {
    if (!m_data || event->button() != Qt::LeftButton) return;
    if (event->pos().x() < kHeaderWidth) {
        m_headerPressed = event->pos();
    } else {
        m_navigator.pointerDown(pointIn(rowsRect().topLeft(), event->pos()),
                                event->modifiers().testFlag(Qt::ShiftModifier));
    }
}

void TimelineCanvas::updateArea() {
    const timeline::DrawnArea drawn = m_navigator.drawnArea();
    m_area = TimelineArea{drawn.time, drawn.top, drawn.bottom, {}};
    update();
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
    const timeline::Point at = pointIn(rowsRect().topLeft(), event->pos());
    m_navigator.pointAt(at);
    if (!m_data || m_headerPressed) return;
    switch (m_navigator.pointerMoved(at)) {
        case Gesture::None: {
            const auto under = hit(event->pos());
            return point(under ? under->event : EventId());
        }
        case Gesture::Click:
            return;
        case Gesture::Move:
            return moved();
        case Gesture::Area:
            return updateArea();
    }
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_data || event->button() != Qt::LeftButton) return;
    if (const auto from = std::exchange(m_headerPressed, std::nullopt)) {
        const bool clicked = (event->pos() - *from).manhattanLength() <= timeline::kClickSlack;
        return clicked ? clickHeader(event->pos()) : dropHeader(*from, event->pos());
    }
    const Gesture gesture = m_navigator.pointerUp();
    if (gesture == Gesture::Area) finishArea();
    if (gesture != Gesture::Click) return;
    const auto under = hit(event->pos());
    if (under && under->event.valid()) {
        select(under->event);
    } else {
        clearSelection();
    }
}

void TimelineCanvas::finishArea() {
    std::vector<timeline::PlacedRow> lines;
    const std::int32_t top = std::max(m_area->top - scroll(), 0);
    m_tree->placeVisible(scroll(), std::max(m_area->bottom - scroll(), 0), lines);
    for (const timeline::PlacedRow& line : lines) {
        if (line.y + line.height <= top) continue;
        if (line.lane.valid()) {
            if (m_area->lanes.empty() || m_area->lanes.back() != line.lane)
                m_area->lanes.push_back(line.lane);
        } else if (m_tree->collapsed(line.rank)) {
            const auto all = m_data->index.lanesOf(line.rank);
            m_area->lanes.insert(m_area->lanes.end(), all.begin(), all.end());
        }
    }
    update();
    emit areaSelected(m_area->time, m_area->lanes);
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (!m_data) return;
    const QRect rows = rowsRect();
    if (event->pos().y() < rows.top()) {
        for (const models::Bookmark& bookmark : m_bookmarks.all()) {
            const double x = rows.left() + timeline::pixelAt(view(), bookmark.time);
            if (std::abs(x - event->pos().x()) <= 6) emit bookmarkActivated(bookmark.time);
        }
        return;
    }
    const auto under = hit(event->pos());
    if (under && under->event.valid()) showRange(m_data->trace().event(under->event).span);
}

void TimelineCanvas::leaveEvent(QEvent*) {
    m_navigator.pointAt(std::nullopt);
    if (m_data) point({});
}

std::optional<timeline::PlacedRow> TimelineCanvas::lineAt(QPoint position) const {
    if (position.y() < kRulerHeight) return std::nullopt;
    return m_tree->at(position.y() - kRulerHeight, scroll());
}

void TimelineCanvas::clickHeader(QPoint position) {
    const auto line = lineAt(position);
    if (!line) return;
    if (!line->lane.valid()) {
        setCollapsed(line->rank, !m_tree->collapsed(line->rank));
    } else if (position.x() >= kHeaderWidth - kPinWidth) {
        setPinned(line->lane, !m_tree->pinned(line->lane));
    } else {
        setCollapsed(line->lane, !m_tree->collapsed(line->lane));
    }
}

// Puts what was dragged before the line it was dropped on; a rank before a rank.
void TimelineCanvas::dropHeader(QPoint from, QPoint to) {
    const auto moved = lineAt(from), target = lineAt(to);
    if (!moved || !target) return;
    if (!moved->lane.valid()) {
        move(moved->rank, target->rank);
    } else if (target->lane.valid()) {
        move(moved->lane, target->lane);
    }
}

}  // namespace pleat::widgets
