#include "widgets/pipeline_view.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "models/answer_figures.h"
#include "timeline/path_marks.h"
#include "timeline/ruler.h"
#include "widgets/colours.h"
#include "widgets/pinch.h"

namespace pleat::widgets {
namespace {

using Kind = timeline::PipelineHit::Kind;
using timeline::Motion;

constexpr int kTitleWidth = 130, kRulerHeight = 22;
constexpr int kLeastRowHeight = 28, kMostRowHeight = 64;
constexpr int kTickDistance = 90;
constexpr double kZoomStep = 0.8;

QRect toRect(const timeline::PixelRect& rect) { return {rect.x, rect.y, rect.width, rect.height}; }

}  // namespace

PipelineView::PipelineView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Pipeline"));
    viewport()->setMouseTracking(true);
    m_motionEnd.setSingleShot(true);
    m_motionEnd.setInterval(500);
    connect(&m_motionEnd, &QTimer::timeout, this, [this] { m_history.endMotion(); });
}

void PipelineView::setResults(std::shared_ptr<const models::IterationResults> results) {
    if (results == m_results) return;
    m_results = std::move(results);
    m_selection.reset();
    m_area.reset();
    verticalScrollBar()->setValue(0);
    updateScrollBar();
    startAnew();
}

void PipelineView::startAnew() {
    if (m_results) m_time = timeline::fitted(whole(), pictureWidth());
    m_history = timeline::NavigationHistory(m_time);
    viewport()->update();
    emit rangeChanged();
}

void PipelineView::setLeastTime(base::Duration least) {
    m_leastTime = least;
    startAnew();
}

base::Interval PipelineView::whole() const {
    const base::Interval window = scene().window;
    return {window.begin, std::max(window.end, window.begin + m_leastTime)};
}

void PipelineView::setRows(timeline::PipelineRows rows) {
    if (rows == m_rows) return;
    if (m_results) m_selection = sameIn(m_results->sceneBy(rows));
    m_rows = rows;
    m_area.reset();  // other rows lie there now
    updateScrollBar();
    if (m_selection)
        bringIntoView(m_selection->kind == Kind::Task ? scene().tasks[m_selection->index].row
                                                      : scene().gaps[m_selection->index].row);
    viewport()->update();
}

std::optional<timeline::PipelineHit> PipelineView::sameIn(
    const timeline::PipelineScene& other) const {
    if (!m_selection || m_selection->kind == Kind::Ghost) return std::nullopt;
    const auto found = [&](const auto& items, const auto& same) {
        const auto at = std::find_if(items.begin(), items.end(), same);
        if (at == items.end()) return std::optional<timeline::PipelineHit>();
        return std::optional(
            timeline::PipelineHit{m_selection->kind, static_cast<std::size_t>(at - items.begin())});
    };
    if (m_selection->kind == Kind::Task) {
        const timeline::PipelineTask& task = scene().tasks[m_selection->index];
        return found(other.tasks, [&](const timeline::PipelineTask& one) {
            return one.event == task.event && one.span == task.span && one.stage == task.stage &&
                   one.microbatch == task.microbatch;
        });
    }
    const timeline::PipelineGap& gap = scene().gaps[m_selection->index];
    return found(other.gaps, [&](const timeline::PipelineGap& one) {
        return one.gap == gap.gap && one.span == gap.span;
    });
}

void PipelineView::showRange(base::Interval range) {
    setTime(timeline::fitted(range, pictureWidth()), Motion::Jump);
}

void PipelineView::centreOn(base::TraceTime time) {
    pan(timeline::pixelAt(m_time, time) - m_time.width / 2.0);
}

void PipelineView::showRow(std::int32_t rank) {
    if (!m_results) return;
    const auto& rows = scene().rows;
    const auto first =
        std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.rank == rank; });
    if (first != rows.end()) bringIntoView(static_cast<std::uint32_t>(first - rows.begin()));
}

void PipelineView::bringIntoView(std::uint32_t row) {
    const int top = static_cast<int>(row) * rowHeight();
    const int room = viewport()->height() - kRulerHeight - rowHeight();
    const int now = verticalScrollBar()->value();
    verticalScrollBar()->setValue(std::clamp(now, top - std::max(room, 0), top));
}

void PipelineView::selectEvent(trace::EventId event) {
    if (!m_results) return;
    // Of a place without an event only a gap that is selected may be what is meant.
    if (event.valid() || (m_selection && m_selection->kind == Kind::Task)) m_selection.reset();
    const auto& tasks = scene().tasks;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!event.valid() || tasks[i].event != event) continue;
        m_selection = timeline::PipelineHit{Kind::Task, i};
        bringIntoView(tasks[i].row);
    }
    viewport()->update();
}

void PipelineView::fit() {
    if (m_results) showRange(whole());
}

void PipelineView::undoNavigation() {
    if (const auto step = m_history.undo()) showStep(*step);
}

void PipelineView::redoNavigation() {
    if (const auto step = m_history.redo()) showStep(*step);
}

void PipelineView::follow(const PipelineView& other) {
    if (!m_results || !other.m_results) return;
    m_history = other.m_history.shifted(scene().window.begin - other.scene().window.begin);
    verticalScrollBar()->setValue(other.verticalScrollBar()->value() * rowHeight() /
                                  other.rowHeight());
    showStep(m_history.current());
}

void PipelineView::setGhosts(bool shown) {
    m_ghosts = shown;
    viewport()->update();
}

void PipelineView::setMessages(bool shown) {
    m_messages = shown;
    viewport()->update();
}

void PipelineView::setSlack(bool shown) {
    m_slack = shown;
    viewport()->update();
}

base::Interval PipelineView::visibleRange() const { return timeline::visible(m_time); }

QPoint PipelineView::pointOfTask(std::size_t task) const {
    const timeline::PipelineTask& wanted = scene().tasks[task];
    const base::TraceTime middle = wanted.span.begin + base::Duration{wanted.span.length().ns / 2};
    return {kTitleWidth + timeline::columnAt(m_time, middle),
            kRulerHeight + static_cast<int>(wanted.row) * rowHeight() + rowHeight() / 4 -
                verticalScrollBar()->value()};
}

timeline::PipelineViewport PipelineView::pipelineViewport() const {
    return {m_time,
            viewport()->height() - kRulerHeight,
            verticalScrollBar()->value(),
            rowHeight(),
            m_ghosts,
            m_messages};
}

std::optional<timeline::PipelineHit> PipelineView::hitAtPoint(QPoint point) const {
    if (!m_results || point.x() < kTitleWidth || point.y() < kRulerHeight) return std::nullopt;
    const auto frame = timeline::layOutPipeline(scene(), pipelineViewport());
    return timeline::hitAt(frame, point.x() - kTitleWidth, point.y() - kRulerHeight);
}

void PipelineView::setTime(const timeline::Viewport& time, Motion motion) {
    m_time = m_results ? timeline::clamped(time, whole()) : time;
    m_history.record(m_time, motion);
    if (motion == Motion::Continues) m_motionEnd.start();
    viewport()->update();
    emit rangeChanged();
}

void PipelineView::showStep(const timeline::Viewport& time) {
    if (!m_results) return;
    m_time = timeline::fitted(time, whole(), pictureWidth());
    viewport()->update();
    emit rangeChanged();
}

void PipelineView::zoom(double x, double factor) {
    setTime(timeline::zoomedAround(m_time, x, factor), Motion::Continues);
}

void PipelineView::pan(double pixels) {
    setTime(timeline::panned(m_time, pixels), Motion::Continues);
}

void PipelineView::select(std::optional<timeline::PipelineHit> hit) {
    m_selection = hit;
    m_area.reset();
    viewport()->update();
    if (hit) {
        emit selected(*hit);
    } else {
        emit cleared();
    }
}

// Along the row to the next task, or to the row above or below at the same time.
void PipelineView::moveSelection(int columns, int rows) {
    if (!m_results || scene().tasks.empty()) return;
    const auto& tasks = scene().tasks;
    if (!m_selection || m_selection->kind != Kind::Task)
        return select(timeline::PipelineHit{Kind::Task, 0});
    const timeline::PipelineTask& now = tasks[m_selection->index];
    auto best = m_selection->index;
    if (columns != 0) {
        const std::size_t next = best + static_cast<std::size_t>(columns);
        if (next < tasks.size() && tasks[next].row == now.row) best = next;
    } else {
        const auto row = static_cast<std::uint32_t>(static_cast<int>(now.row) + rows);
        std::int64_t nearest = -1;
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            if (tasks[i].row != row) continue;
            const std::int64_t distance = std::abs((tasks[i].span.begin - now.span.begin).ns);
            if (nearest >= 0 && distance >= nearest) continue;
            nearest = distance;
            best = i;
        }
    }
    select(timeline::PipelineHit{Kind::Task, best});
    bringIntoView(tasks[best].row);
    const base::Interval shown = visibleRange();
    const base::Interval span = tasks[best].span;
    if (span.begin < shown.begin || span.end > shown.end)
        setTime(
            {span.begin - base::Duration{shown.length().ns / 2}, m_time.nsPerPixel, m_time.width},
            Motion::Jump);
}

void PipelineView::updateScrollBar() {
    const int rows = m_results ? static_cast<int>(scene().rows.size()) : 0;
    const int room = std::max(viewport()->height() - kRulerHeight, 1);
    verticalScrollBar()->setRange(0, std::max(rows * rowHeight() - room, 0));
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(rowHeight());
}

void PipelineView::updateArea(QPoint to) {
    if (!m_results || scene().rows.empty()) return;
    const timeline::PipelineViewport shown = pipelineViewport();
    const auto last = static_cast<std::uint32_t>(scene().rows.size() - 1);
    const auto rowOf = [&](int y) {
        const int inRows = std::max(y - kRulerHeight, 0);
        return timeline::rowAt(scene(), shown, inRows).value_or(last);
    };
    const auto timeOf = [&](int x) { return timeline::timeAt(m_time, x - kTitleWidth); };
    const auto [top, bottom] = std::minmax({m_pressed.y(), to.y()});
    const auto [left, right] = std::minmax({m_pressed.x(), to.x()});
    m_area = PipelineArea{rowOf(top), rowOf(bottom),
                          intersect({timeOf(left), timeOf(right)}, scene().window)};
    m_selection.reset();
    viewport()->update();
}

void PipelineView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    if (!m_results) return;
    const timeline::PipelineViewport shown = pipelineViewport();
    painter.save();
    painter.setClipRect(0, kRulerHeight, viewport()->width(), viewport()->height());
    painter.translate(0, kRulerHeight);
    paintRows(painter, shown);
    painter.setClipRect(kTitleWidth, 0, viewport()->width(), viewport()->height());
    painter.translate(kTitleWidth, 0);
    paintBoxes(painter, timeline::layOutPipeline(scene(), shown));
    painter.restore();
    paintRuler(painter);
}

void PipelineView::paintRows(QPainter& painter, const timeline::PipelineViewport& shown) const {
    painter.setPen(palette().color(QPalette::Text));
    const auto& rows = scene().rows;
    const int first = shown.top / shown.rowHeight;
    const int last =
        std::min((shown.top + shown.height) / shown.rowHeight, static_cast<int>(rows.size()) - 1);
    for (int row = first; row <= last; ++row) {
        const QRect rect(4, row * shown.rowHeight - shown.top, kTitleWidth - 8,
                         shown.rowHeight - timeline::kRowDistance);
        const QString title = QString::fromStdString(rows[static_cast<std::size_t>(row)].title);
        painter.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(title, Qt::ElideRight, rect.width()));
    }
}

void PipelineView::paintBoxes(QPainter& painter, const timeline::PipelineFrame& frame) const {
    const timeline::PipelineScene& shown = scene();
    for (const timeline::PipelineBand& band : frame.bands) {
        const QColor colour =
            partColour(models::kFirstCause + static_cast<std::size_t>(band.cause));
        painter.fillRect(toRect(band.rect), colour.lighter(150));
        painter.fillRect(toRect(band.rect), QBrush(colour.darker(130), Qt::BDiagPattern));
    }
    for (const timeline::PipelineBox& box : frame.boxes) {
        const timeline::PipelineTask& task = shown.tasks[box.task];
        const QColor colour = m_slack && task.slack
                                  ? paler(taskColour(task), palette().color(QPalette::Base),
                                          timeline::paleness(*task.slack, shown.palest))
                                  : taskColour(task);
        painter.fillRect(toRect(box.rect), colour);
        if (task.critical)
            painter.fillRect(box.rect.x, box.rect.y, box.rect.width, 3, QColor(Qt::red));
        if (box.rect.width > 3) {
            painter.setPen(palette().color(QPalette::Base));
            painter.drawLine(box.rect.x, box.rect.y, box.rect.x, box.rect.y + box.rect.height - 1);
        }
        if (box.label.empty()) continue;
        painter.setPen(textOn(colour));
        painter.drawText(toRect(box.rect), Qt::AlignCenter, QString::fromStdString(box.label));
    }
    for (const timeline::PipelineBox& box : frame.ghosts) {
        painter.setPen(taskColour(shown.ghosts[box.task]));
        painter.drawRect(toRect(box.rect).adjusted(0, 1, -1, -1));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(palette().color(QPalette::Text), 1));
    for (const timeline::PipelineArrow& arrow : frame.arrows)
        painter.drawLine(arrow.x0, arrow.y0, arrow.x1, arrow.y1);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 3));
    for (const timeline::PipelineBox& box : frame.boxes) {
        if (m_selection && m_selection->kind == Kind::Task && m_selection->index == box.task)
            painter.drawRect(toRect(box.rect).adjusted(0, 0, -1, -1));
    }
    for (const timeline::PipelineBand& band : frame.bands) {
        if (m_selection && m_selection->kind == Kind::Gap && m_selection->index == band.gap)
            painter.drawRect(toRect(band.rect).adjusted(0, 0, -1, -1));
    }
    if (!m_area) return;
    const int x0 = timeline::columnAt(m_time, m_area->range.begin);
    const int x1 = timeline::columnAt(m_time, m_area->range.end);
    const int top = static_cast<int>(m_area->firstRow) * rowHeight() - verticalScrollBar()->value();
    const auto rows = static_cast<int>(m_area->lastRow - m_area->firstRow + 1);
    QColor veil = palette().color(QPalette::Highlight);
    veil.setAlpha(60);
    painter.fillRect(x0, top, x1 - x0, rows * rowHeight(), veil);
}

void PipelineView::paintRuler(QPainter& painter) const {
    painter.fillRect(0, 0, viewport()->width(), kRulerHeight, palette().color(QPalette::Window));
    painter.setPen(palette().color(QPalette::WindowText));
    const auto begin = scene().window.begin;
    for (const timeline::Tick& tick : timeline::rulerTicks(m_time, begin, kTickDistance)) {
        const int x = kTitleWidth + tick.x;
        painter.drawLine(x, kRulerHeight - 5, x, kRulerHeight);
        const QString label = QString::fromStdString(tick.label);
        // Half a number reads as another one.
        if (x + 3 + painter.fontMetrics().horizontalAdvance(label) > viewport()->width()) continue;
        painter.drawText(x + 3, kRulerHeight - 7, label);
    }
}

int PipelineView::pictureWidth() const { return std::max(viewport()->width() - kTitleWidth, 1); }

// Rows share the height while they are few.
int PipelineView::rowHeight() const {
    const int rows = m_results ? static_cast<int>(scene().rows.size()) : 1;
    const int room = std::max(viewport()->height() - kRulerHeight, 1);
    return std::clamp(room / std::max(rows, 1), kLeastRowHeight, kMostRowHeight);
}

void PipelineView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBar();
    if (!m_results) return;
    m_history.fit(whole(), pictureWidth());
    m_time = m_history.current();
}

bool PipelineView::viewportEvent(QEvent* event) {
    if (const auto pinch = pinchOf(*event); pinch && m_results) {
        zoom(pinch->x - kTitleWidth, pinch->factor);
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void PipelineView::wheelEvent(QWheelEvent* event) {
    const double steps = event->angleDelta().y() / 120.0;
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        pan(-steps * 60);
    } else if (event->modifiers().testFlag(Qt::ControlModifier) ||
               verticalScrollBar()->maximum() == 0) {
        zoom(event->position().x() - kTitleWidth, std::pow(kZoomStep, steps));
    } else {
        QAbstractScrollArea::wheelEvent(event);
    }
}

void PipelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    m_pressed = m_last = event->position().toPoint();
    m_selecting = event->modifiers().testFlag(Qt::ShiftModifier);
    m_dragging = false;
}

void PipelineView::mouseMoveEvent(QMouseEvent* event) {
    if (!event->buttons().testFlag(Qt::LeftButton)) return;
    const QPoint to = event->position().toPoint();
    m_dragging =
        m_dragging || (to - m_pressed).manhattanLength() >= QApplication::startDragDistance();
    if (!m_dragging) return;
    if (m_selecting) {
        updateArea(to);
    } else {
        pan(m_last.x() - to.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() + m_last.y() - to.y());
    }
    m_last = to;
}

void PipelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (!m_dragging) return select(hitAtPoint(event->position().toPoint()));
    m_dragging = false;
    m_history.endMotion();
    if (m_selecting && m_area && !m_area->range.empty()) emit areaSelected(*m_area);
}

void PipelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto hit = hitAtPoint(event->position().toPoint())) emit activated(*hit);
}

bool PipelineView::navigationKey(const QKeyEvent& event) {
    if (event.matches(QKeySequence::Undo)) return undoNavigation(), true;
    if (event.matches(QKeySequence::Redo)) return redoNavigation(), true;
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
        return false;
    const double middle = pictureWidth() / 2.0;
    switch (event.key()) {
        case Qt::Key_W:
            return zoom(middle, kZoomStep), true;
        case Qt::Key_S:
            return zoom(middle, 1 / kZoomStep), true;
        case Qt::Key_A:
            return pan(-0.2 * pictureWidth()), true;
        case Qt::Key_D:
            return pan(0.2 * pictureWidth()), true;
        case Qt::Key_F:
            return fit(), true;
        default:
            return false;
    }
}

void PipelineView::keyPressEvent(QKeyEvent* event) {
    if (navigationKey(*event)) return;
    switch (event->key()) {
        case Qt::Key_Left:
            return moveSelection(-1, 0);
        case Qt::Key_Right:
            return moveSelection(1, 0);
        case Qt::Key_Up:
            return moveSelection(0, -1);
        case Qt::Key_Down:
            return moveSelection(0, 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_selection) emit activated(*m_selection);
            return;
        case Qt::Key_Escape:
            return select(std::nullopt);
        default:
            return QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace pleat::widgets
