#include "widgets/pipeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <utility>

#include "models/answer_figures.h"
#include "timeline/path_marks.h"
#include "timeline/pipeline_steps.h"
#include "timeline/ruler.h"
#include "widgets/colours.h"
#include "widgets/navigation_input.h"

namespace pleat::widgets {
namespace {

using Kind = timeline::PipelineHit::Kind;
using timeline::Gesture;

constexpr int kTitleWidth = 130, kRulerHeight = 22;
constexpr QPoint kRows(kTitleWidth, kRulerHeight);  // where they begin
constexpr int kLeastRowHeight = 28, kMostRowHeight = 64;
constexpr int kTickDistance = 90;

QRect toRect(const timeline::PixelRect& rect) { return {rect.x, rect.y, rect.width, rect.height}; }

}  // namespace

PipelineView::PipelineView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Pipeline"));
    viewport()->setMouseTracking(true);
    m_motionEnd.setSingleShot(true);
    m_motionEnd.setInterval(500);
    connect(&m_motionEnd, &QTimer::timeout, this, [this] { m_navigator.endMotion(); });
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
        m_navigator.scrollTo(value);
        viewport()->update();
    });
}

void PipelineView::setResults(std::shared_ptr<const models::IterationResults> results) {
    if (results == m_results) return;
    m_results = std::move(results);
    m_selection.reset();
    m_area.reset();
    startAnew();
}

void PipelineView::startAnew() {
    updateSize();
    if (m_results) m_navigator.start(whole());
    moved();
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
    if (m_selection)
        m_selection = timeline::sameIn(m_results->sceneBy(rows), scene(), *m_selection);
    m_rows = rows;
    m_area.reset();  // other rows lie there now
    updateSize();
    if (m_selection)
        bringIntoView(m_selection->kind == Kind::Task ? scene().tasks[m_selection->index].row
                                                      : scene().gaps[m_selection->index].row);
    viewport()->update();
}

void PipelineView::showRange(base::Interval range) {
    m_navigator.showRange(range);
    moved();
}

void PipelineView::centreOn(base::TraceTime time) {
    const timeline::Viewport& shown = m_navigator.view();
    m_navigator.pan(timeline::pixelAt(shown, time) - shown.width / 2.0);
    moved();
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
    const int now = m_navigator.scroll();
    m_navigator.scrollTo(std::clamp(now, top - std::max(room, 0), top));
    verticalScrollBar()->setValue(m_navigator.scroll());
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
    if (m_navigator.undo()) moved();
}

void PipelineView::redoNavigation() {
    if (m_navigator.redo()) moved();
}

void PipelineView::follow(const PipelineView& other) {
    if (!m_results || !other.m_results) return;
    m_navigator.follow(other.m_navigator, scene().window.begin - other.scene().window.begin);
    m_navigator.scrollTo(other.m_navigator.scroll() * rowHeight() / other.rowHeight());
    moved();
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

base::Interval PipelineView::visibleRange() const { return timeline::visible(m_navigator.view()); }

QPoint PipelineView::pointOfTask(std::size_t task) const {
    const timeline::PipelineTask& wanted = scene().tasks[task];
    const base::TraceTime middle = wanted.span.begin + base::Duration{wanted.span.length().ns / 2};
    return {kTitleWidth + timeline::columnAt(m_navigator.view(), middle),
            kRulerHeight + static_cast<int>(wanted.row) * rowHeight() + rowHeight() / 4 -
                m_navigator.scroll()};
}

timeline::PipelineViewport PipelineView::pipelineViewport() const {
    return {m_navigator.view(),
            viewport()->height() - kRulerHeight,
            m_navigator.scroll(),
            rowHeight(),
            m_ghosts,
            m_messages};
}

std::optional<timeline::PipelineHit> PipelineView::hitAtPoint(QPoint point) const {
    if (!m_results || point.x() < kTitleWidth || point.y() < kRulerHeight) return std::nullopt;
    const auto frame = timeline::layOutPipeline(scene(), pipelineViewport());
    return timeline::hitAt(frame, point.x() - kTitleWidth, point.y() - kRulerHeight);
}

void PipelineView::moved() {
    m_motionEnd.start();
    verticalScrollBar()->setValue(m_navigator.scroll());
    viewport()->update();
    emit rangeChanged();
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

void PipelineView::moveSelection(timeline::PipelineStep step) {
    if (!m_results || scene().tasks.empty()) return;
    const std::size_t next = timeline::steppedFrom(scene(), m_selection, step);
    select(timeline::PipelineHit{Kind::Task, next});
    bringIntoView(scene().tasks[next].row);
    const base::Interval shown = visibleRange();
    const base::Interval span = scene().tasks[next].span;
    if (span.begin >= shown.begin && span.end <= shown.end) return;
    timeline::Viewport there = m_navigator.view();
    there.begin = span.begin - base::Duration{shown.length().ns / 2};
    m_navigator.show(there);
    moved();
}

void PipelineView::updateSize() {
    const int rows = m_results ? static_cast<int>(scene().rows.size()) : 0;
    const int room = std::max(viewport()->height() - kRulerHeight, 1);
    m_navigator.resize(pictureWidth(), room);
    m_navigator.setRows(rows * rowHeight(), rowHeight());
    verticalScrollBar()->setRange(0, m_navigator.mostScroll());
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(rowHeight());
    verticalScrollBar()->setValue(m_navigator.scroll());
}

void PipelineView::updateArea() {
    if (!m_results || scene().rows.empty()) return;
    const timeline::DrawnArea drawn = m_navigator.drawnArea();
    const timeline::PipelineViewport shown = pipelineViewport();
    const auto last = static_cast<std::uint32_t>(scene().rows.size() - 1);
    const auto rowOf = [&](int y) {
        return timeline::rowAt(scene(), shown, std::max(y - shown.top, 0)).value_or(last);
    };
    m_area =
        PipelineArea{rowOf(drawn.top), rowOf(drawn.bottom), intersect(drawn.time, scene().window)};
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
    const int x0 = timeline::columnAt(m_navigator.view(), m_area->range.begin);
    const int x1 = timeline::columnAt(m_navigator.view(), m_area->range.end);
    const int top = static_cast<int>(m_area->firstRow) * rowHeight() - m_navigator.scroll();
    const auto rows = static_cast<int>(m_area->lastRow - m_area->firstRow + 1);
    QColor veil = palette().color(QPalette::Highlight);
    veil.setAlpha(60);
    painter.fillRect(x0, top, x1 - x0, rows * rowHeight(), veil);
}

void PipelineView::paintRuler(QPainter& painter) const {
    painter.fillRect(0, 0, viewport()->width(), kRulerHeight, palette().color(QPalette::Window));
    painter.setPen(palette().color(QPalette::WindowText));
    const auto begin = scene().window.begin;
    for (const timeline::Tick& tick :
         timeline::rulerTicks(m_navigator.view(), begin, kTickDistance)) {
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
    updateSize();
}

bool PipelineView::viewportEvent(QEvent* event) {
    if (const auto pinch = pinchOf(*event); pinch && m_results) {
        m_navigator.zoom(pinch->x - kTitleWidth, pinch->factor);
        moved();
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void PipelineView::wheelEvent(QWheelEvent* event) {
    if (!m_results) return;
    m_navigator.turn(wheelOf(*event, kRows));
    moved();
    event->accept();
}

void PipelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    m_navigator.pointerDown(pointIn(kRows, event->position().toPoint()),
                            event->modifiers().testFlag(Qt::ShiftModifier));
}

void PipelineView::mouseMoveEvent(QMouseEvent* event) {
    const timeline::Point at = pointIn(kRows, event->position().toPoint());
    m_navigator.pointAt(at);
    const Gesture gesture = m_navigator.pointerMoved(at);
    if (gesture == Gesture::Area) updateArea();
    if (gesture == Gesture::Move) moved();
}

void PipelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Gesture gesture = m_navigator.pointerUp();
    if (gesture == Gesture::Click) return select(hitAtPoint(event->position().toPoint()));
    if (gesture == Gesture::Area && m_area && !m_area->range.empty()) emit areaSelected(*m_area);
}

void PipelineView::leaveEvent(QEvent*) { m_navigator.pointAt(std::nullopt); }

void PipelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto hit = hitAtPoint(event->position().toPoint())) emit activated(*hit);
}

void PipelineView::keyPressEvent(QKeyEvent* event) {
    if (!m_results || !press(keyName(*event))) QAbstractScrollArea::keyPressEvent(event);
}

bool PipelineView::press(const std::string& key) {
    static const KeyActions<PipelineView> s_actions = {
        {"Left", [](PipelineView& v) { v.moveSelection(timeline::PipelineStep::Earlier); }},
        {"Right", [](PipelineView& v) { v.moveSelection(timeline::PipelineStep::Later); }},
        {"Up", [](PipelineView& v) { v.moveSelection(timeline::PipelineStep::Above); }},
        {"Down", [](PipelineView& v) { v.moveSelection(timeline::PipelineStep::Below); }},
        {"Return", [](PipelineView& v) { v.activateSelection(); }},
        {"Enter", [](PipelineView& v) { v.activateSelection(); }},
        {"Esc", [](PipelineView& v) { v.select(std::nullopt); }}};
    if (runKey(s_actions, key, *this)) return true;
    if (!m_navigator.press(key)) return false;
    moved();
    return true;
}

void PipelineView::activateSelection() {
    if (m_selection) emit activated(*m_selection);
}

}  // namespace pleat::widgets
