// What a TimelineCanvas does with keys, mouse, wheel and gestures.
#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/pinch.h"
#include "widgets/timeline_canvas.h"

namespace pleat::widgets {

using timeline::Direction;
using timeline::Motion;
using trace::EventId;
using trace::LaneId;
using trace::RankId;

namespace {

constexpr double kZoomStep = 0.8, kPanShare = 0.1;
constexpr int kClickSlack = 3;  // pixels a click may move
constexpr int kPinWidth = 20;

}  // namespace

void TimelineCanvas::resizeEvent(QResizeEvent*) {
    m_history.fit(whole(), rowsRect().width());
    m_view = m_history.current();
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
        zoomAt(pinch->x - rowsRect().left(), pinch->factor, Motion::Continues);
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
    if (!m_data || !(commandKey(*event) || navigationKey(*event))) QWidget::keyPressEvent(event);
}

bool TimelineCanvas::commandKey(const QKeyEvent& event) {
    if (event.matches(QKeySequence::Undo)) return undoNavigation(), true;
    if (event.matches(QKeySequence::Redo)) return redoNavigation(), true;
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
        return false;
    switch (event.key()) {
        case Qt::Key_BracketLeft:
            return followArrow(Direction::Backward), true;
        case Qt::Key_BracketRight:
            return followArrow(Direction::Forward), true;
        case Qt::Key_Comma:
            return stepToSameKind(Direction::Backward), true;
        case Qt::Key_Period:
            return stepToSameKind(Direction::Forward), true;
        case Qt::Key_Left:
            return stepInRow(Direction::Backward), true;
        case Qt::Key_Right:
            return stepInRow(Direction::Forward), true;
        case Qt::Key_M:
            return addBookmark(), true;
        case Qt::Key_R:
            return setAllArrows(!m_allArrows), true;
        case Qt::Key_C:
            return setPathShown(!m_pathShown), true;
        case Qt::Key_Slash:
            emit searchWanted();
            return true;
        case Qt::Key_Escape:
            return clearSelection(), true;
        default:
            return false;
    }
}

bool TimelineCanvas::navigationKey(const QKeyEvent& event) {
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
        return false;
    const double step = rowsRect().width() * kPanShare;
    const int page = rowsRect().height();
    switch (event.key()) {
        case Qt::Key_W:
            return zoom(kZoomStep), true;
        case Qt::Key_S:
            return zoom(1 / kZoomStep), true;
        case Qt::Key_A:
            return pan(-step), true;
        case Qt::Key_D:
            return pan(step), true;
        case Qt::Key_F:
            if (!(event.modifiers() & Qt::ShiftModifier)) return showWhole(), true;
            if (m_area) return showRange(m_area->time), true;
            if (m_selected.valid()) showRange(m_data->trace().event(m_selected).span);
            return true;
        case Qt::Key_Up:
            return setScroll(m_tree->clampedScroll(m_scroll - timeline::kRowHeight, page)), true;
        case Qt::Key_Down:
            return setScroll(m_tree->clampedScroll(m_scroll + timeline::kRowHeight, page)), true;
        case Qt::Key_PageUp:
            return setScroll(m_tree->clampedScroll(m_scroll - page, page)), true;
        case Qt::Key_PageDown:
            return setScroll(m_tree->clampedScroll(m_scroll + page, page)), true;
        case Qt::Key_Home:
            return setView(timeline::panned(m_view, -1e15), Motion::Jump), true;
        case Qt::Key_End:
            return setView(timeline::panned(m_view, 1e15), Motion::Jump), true;
        default:
            return false;
    }
}

void TimelineCanvas::wheelEvent(QWheelEvent* event) {
    if (!m_data) return;
    constexpr double kNotch = 120;
    const QPoint turned = event->angleDelta();
    if (event->modifiers() & Qt::ControlModifier) {
        const double x = event->position().x() - rowsRect().left();
        zoomAt(x, std::pow(kZoomStep, turned.y() / kNotch), Motion::Continues);
    } else if ((event->modifiers() & Qt::ShiftModifier) || turned.x() != 0) {
        const int along = turned.x() != 0 ? turned.x() : turned.y();
        pan(-along / kNotch * rowsRect().width() * kPanShare);
    } else {
        const int lines = static_cast<int>(turned.y() / kNotch * 3 * timeline::kRowHeight);
        setScroll(m_tree->clampedScroll(m_scroll - lines, rowsRect().height()));
    }
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
    m_pressed = event->pos();
    m_pressedView = m_view;
    m_pressedScroll = m_scroll;
    if (event->pos().x() < kHeaderWidth) {
        m_drag = Drag::Header;
    } else {
        m_drag = event->modifiers() & Qt::ShiftModifier ? Drag::Area : Drag::Pressed;
    }
}

void TimelineCanvas::dragTo(QPoint position) {
    const QRect rows = rowsRect();
    const QPoint moved = position - m_pressed;
    if (m_drag == Drag::Pressed && moved.manhattanLength() > kClickSlack) m_drag = Drag::Pan;
    if (m_drag == Drag::Pan) {
        setView(timeline::panned(m_pressedView, -moved.x()), Motion::Continues);
        setScroll(m_tree->clampedScroll(m_pressedScroll - moved.y(), rows.height()));
    } else if (m_drag == Drag::Area) {
        const auto [x0, x1] = std::minmax({m_pressed.x(), position.x()});
        const auto [y0, y1] = std::minmax({m_pressed.y(), position.y()});
        m_area = TimelineArea{{timeline::timeAt(m_view, std::max(x0 - rows.left(), 0)),
                               timeline::timeAt(m_view, std::min(x1, rows.right()) - rows.left())},
                              y0 - rows.top() + m_scroll,
                              y1 - rows.top() + m_scroll,
                              {}};
        update();
    }
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event) {
    m_cursor = event->pos();
    if (!m_data) return;
    if (m_drag != Drag::None) return dragTo(event->pos());
    const auto under = hit(event->pos());
    point(under ? under->event : EventId());
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_data || event->button() != Qt::LeftButton) return;
    const Drag drag = std::exchange(m_drag, Drag::None);
    const bool clicked = (event->pos() - m_pressed).manhattanLength() <= kClickSlack;
    if (drag == Drag::Pan) m_history.endMotion();
    if (drag == Drag::Area && !clicked) finishArea();
    if (drag == Drag::Header) {
        clicked ? clickHeader(event->pos()) : dropHeader(m_pressed, event->pos());
    }
    if (drag == Drag::Pressed) {
        const auto under = hit(event->pos());
        if (under && under->event.valid()) {
            select(under->event);
        } else {
            clearSelection();
        }
    }
}

void TimelineCanvas::finishArea() {
    std::vector<timeline::PlacedRow> lines;
    const std::int32_t top = std::max(m_area->top - m_scroll, 0);
    m_tree->placeVisible(m_scroll, std::max(m_area->bottom - m_scroll, 0), lines);
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
            const double x = rows.left() + timeline::pixelAt(m_view, bookmark.time);
            if (std::abs(x - event->pos().x()) <= 6) emit bookmarkActivated(bookmark.time);
        }
        return;
    }
    const auto under = hit(event->pos());
    if (under && under->event.valid()) showRange(m_data->trace().event(under->event).span);
}

void TimelineCanvas::leaveEvent(QEvent*) {
    m_cursor.reset();
    if (m_data) point({});
}

std::optional<timeline::PlacedRow> TimelineCanvas::lineAt(QPoint position) const {
    if (position.y() < kRulerHeight) return std::nullopt;
    return m_tree->at(position.y() - kRulerHeight, m_scroll);
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
