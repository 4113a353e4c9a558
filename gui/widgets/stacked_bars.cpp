#include "widgets/stacked_bars.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "models/text.h"
#include "report/units.h"
#include "widgets/colours.h"

namespace pleat::widgets {
namespace {

constexpr int kBarHeight = 24, kBarDistance = 6, kTitleWidth = 90;

}  // namespace

StackedBars::StackedBars(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Where each rank's time went"));
}

void StackedBars::setBars(std::vector<models::Bar> bars) {
    m_bars = std::move(bars);
    m_current = {};
    setAccessibleDescription(currentText());
    updateGeometry();
    update();
}

QString StackedBars::currentText() const { return textOf(m_current); }

QSize StackedBars::sizeHint() const {
    return {600, static_cast<int>(m_bars.size()) * (kBarHeight + kBarDistance)};
}

QRect StackedBars::rectOf(At at) const {
    const auto& segments = m_bars[static_cast<std::size_t>(at.bar)].segments;
    int before = 0;
    for (int i = 0; i < at.segment; ++i) before += segments[static_cast<std::size_t>(i)].tenths;
    const int until = before + segments[static_cast<std::size_t>(at.segment)].tenths;
    const int room = std::max(width() - kTitleWidth, 1);
    const int x0 = kTitleWidth + before * room / 1'000, x1 = kTitleWidth + until * room / 1'000;
    return {x0, at.bar * (kBarHeight + kBarDistance), x1 - x0, kBarHeight};
}

StackedBars::At StackedBars::partAt(QPoint point) const {
    const int bar = point.y() / (kBarHeight + kBarDistance);
    if (point.y() < 0 || bar >= static_cast<int>(m_bars.size())) return {0, -1};
    const auto count = static_cast<int>(m_bars[static_cast<std::size_t>(bar)].segments.size());
    for (int segment = 0; segment < count; ++segment) {
        if (rectOf({bar, segment}).contains(point)) return {bar, segment};
    }
    return {0, -1};
}

QString StackedBars::textOf(At at) const {
    if (at.bar >= static_cast<int>(m_bars.size()) || at.segment < 0) return {};
    const models::Bar& bar = m_bars[static_cast<std::size_t>(at.bar)];
    if (at.segment >= static_cast<int>(bar.segments.size())) return bar.title;
    const models::BarSegment& segment = bar.segments[static_cast<std::size_t>(at.segment)];
    return tr("%1: %2 %3 %, %4 ms")
        .arg(bar.title, models::barPartName(segment.part))
        .arg(segment.tenths / 10.0, 0, 'f', 1)
        .arg(QString::fromStdString(report::milliseconds(segment.time)));
}

void StackedBars::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    const int step = kBarHeight + kBarDistance;
    const int first = event->rect().top() / step;
    const int last = std::min(event->rect().bottom() / step, static_cast<int>(m_bars.size()) - 1);
    for (int bar = first; bar <= last; ++bar) {
        const models::Bar& shown = m_bars[static_cast<std::size_t>(bar)];
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(QRect(0, bar * step, kTitleWidth - 6, kBarHeight),
                         Qt::AlignLeft | Qt::AlignVCenter, shown.title);
        for (int i = 0; i < static_cast<int>(shown.segments.size()); ++i) {
            const models::BarSegment& segment = shown.segments[static_cast<std::size_t>(i)];
            const QRect rect = rectOf({bar, i});
            const QColor colour = partColour(segment.part);
            const bool solid = segment.part < models::kFirstCause;
            painter.fillRect(rect, solid ? colour : colour.lighter(130));
            if (!solid) painter.fillRect(rect, QBrush(colour.darker(140), Qt::BDiagPattern));
            if (hasFocus() && bar == m_current.bar && i == m_current.segment) {
                painter.setPen(QPen(palette().color(QPalette::WindowText), 2));
                painter.drawRect(rect.adjusted(1, 1, -1, -1));
            }
            const QString share = QString::number(segment.tenths / 10.0, 'f', 1);
            if (painter.fontMetrics().horizontalAdvance(share) + 6 > rect.width()) continue;
            painter.setPen(textOn(solid ? colour : colour.lighter(130)));
            painter.drawText(rect, Qt::AlignCenter, share);
        }
    }
}

void StackedBars::mousePressEvent(QMouseEvent* event) {
    const At at = partAt(event->position().toPoint());
    if (at.segment < 0) return QWidget::mousePressEvent(event);
    moveTo(at);
    choose();
}

void StackedBars::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
            return moveTo({m_current.bar, m_current.segment - 1});
        case Qt::Key_Right:
            return moveTo({m_current.bar, m_current.segment + 1});
        case Qt::Key_Up:
            return moveTo({m_current.bar - 1, m_current.segment});
        case Qt::Key_Down:
            return moveTo({m_current.bar + 1, m_current.segment});
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Space:
            return choose();
        default:
            return QWidget::keyPressEvent(event);
    }
}

bool StackedBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textOf(partAt(help->pos())), this);
    return true;
}

void StackedBars::moveTo(At at) {
    if (m_bars.empty()) return;
    at.bar = std::clamp(at.bar, 0, static_cast<int>(m_bars.size()) - 1);
    const auto count = static_cast<int>(m_bars[static_cast<std::size_t>(at.bar)].segments.size());
    at.segment = std::clamp(at.segment, 0, std::max(count - 1, 0));
    m_current = at;
    setAccessibleDescription(currentText());
    setToolTip({});
    update();
}

void StackedBars::choose() {
    if (m_current.bar >= static_cast<int>(m_bars.size())) return;
    const auto& segments = m_bars[static_cast<std::size_t>(m_current.bar)].segments;
    if (m_current.segment >= static_cast<int>(segments.size())) return;
    emit placeChosen(segments[static_cast<std::size_t>(m_current.segment)].place);
}

}  // namespace pleat::widgets
