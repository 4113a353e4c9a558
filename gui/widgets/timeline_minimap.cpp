#include "widgets/timeline_minimap.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <numeric>

#include "widgets/timeline_painter.h"

namespace pleat::widgets {
namespace {

// Of the parts that lie in one pixel, rounded up: what is little still shows.
int meanOf(const std::vector<std::uint8_t>& strip, int x, int width) {
    const auto at = [&](int pixel) {
        return strip.size() * static_cast<std::size_t>(pixel) / static_cast<std::size_t>(width);
    };
    const std::size_t first = at(x), last = std::max(at(x + 1), first + 1);
    const auto sum = std::accumulate(strip.begin() + static_cast<std::ptrdiff_t>(first),
                                     strip.begin() + static_cast<std::ptrdiff_t>(last), 0);
    const auto count = static_cast<int>(last - first);
    return (sum + count - 1) / count;
}

}  // namespace

TimelineMinimap::TimelineMinimap(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("The whole run"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(40);
    setToolTip(tr("How busy the ranks were over the whole run; drag to move"));
}

void TimelineMinimap::setStrip(std::vector<std::uint8_t> strip) {
    m_strip = std::move(strip);
    update();
}

void TimelineMinimap::setWhole(base::Interval whole) {
    m_whole = whole;
    update();
}

void TimelineMinimap::setShown(base::Interval shown) {
    m_shown = shown;
    update();
}

void TimelineMinimap::setTheme(timeline::Theme theme) {
    m_theme = theme;
    update();
}

QRect TimelineMinimap::frameRect() const {
    const timeline::Viewport all = timeline::fitted(m_whole, std::max(width(), 1));
    const int x0 = timeline::edgeAt(all, m_shown.begin), x1 = timeline::edgeAt(all, m_shown.end);
    constexpr int kLeast = 4;
    return {std::min(x0, width() - kLeast), 0, std::max(x1 - x0, kLeast), height()};
}

void TimelineMinimap::paintEvent(QPaintEvent*) {
    const timeline::Palette& colours = timeline::palette(m_theme);
    QPainter painter(this);
    painter.fillRect(rect(), colourOf(colours.background));
    if (!m_strip.empty()) {
        painter.setPen(colourOf(colours.events[0]));
        for (int x = 0; x < width(); ++x) {
            const int mean = meanOf(m_strip, x, width());
            const int bar = std::max(1, mean * (height() - 2) / 255);
            if (mean > 0) painter.drawLine(x, height() - 1 - bar, x, height() - 1);
        }
    }
    QColor veil = colourOf(colours.highlight);
    veil.setAlpha(40);
    painter.fillRect(frameRect(), veil);
    painter.setPen(colourOf(colours.highlight));
    painter.drawRect(frameRect().adjusted(0, 0, -1, -1));
}

void TimelineMinimap::ask(int x) {
    if (m_whole.empty()) return;
    emit centreWanted(timeline::timeAt(timeline::fitted(m_whole, std::max(width(), 1)),
                                       std::clamp(x, 0, width())));
}

void TimelineMinimap::mousePressEvent(QMouseEvent* event) { ask(event->pos().x()); }

void TimelineMinimap::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) ask(event->pos().x());
}

}  // namespace pleat::widgets
