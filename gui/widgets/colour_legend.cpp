#include "widgets/colour_legend.h"

#include <QPainter>
#include <utility>

namespace pleat::widgets {
namespace {

constexpr int kSquare = 11, kSpace = 5, kDistance = 14;
constexpr qsizetype kMostLines = 40;  // of a tooltip

}  // namespace

ColourLegend::ColourLegend(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("What the colours mean"));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ColourLegend::setChips(QList<LegendChip> chips) {
    m_chips = std::move(chips);
    QStringList lines, words;
    for (const LegendChip& chip : m_chips) {
        words << chip.text;
        if (lines.size() >= kMostLines) continue;
        lines << QStringLiteral("<span style=\"color:%1\">&#9632;</span> %2")
                     .arg(chip.colour.name(), chip.text.toHtmlEscaped());
    }
    if (m_chips.size() > kMostLines) lines << tr("and %1 more").arg(m_chips.size() - kMostLines);
    setToolTip(lines.join(QStringLiteral("<br>")));
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

int ColourLegend::widthOf(const LegendChip& chip) const {
    return kSquare + kSpace + fontMetrics().horizontalAdvance(chip.text);
}

qsizetype ColourLegend::fitting() const {
    int x = 0;
    for (qsizetype i = 0; i < m_chips.size(); ++i) {
        x += widthOf(m_chips[i]);
        if (x > width()) return i;
        x += kDistance;
    }
    return m_chips.size();
}

QSize ColourLegend::sizeHint() const {
    int x = 0;
    for (const LegendChip& chip : m_chips) x += widthOf(chip) + kDistance;
    return {x, minimumSizeHint().height()};
}

QSize ColourLegend::minimumSizeHint() const { return {80, fontMetrics().height() + 2}; }

void ColourLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::WindowText));
    const qsizetype whole = fitting();
    int x = 0;
    for (qsizetype i = 0; i < m_chips.size(); ++i) {
        const int text = x + kSquare + kSpace, room = width() - text;
        if (room <= kDistance) break;
        painter.fillRect(x, (height() - kSquare) / 2, kSquare, kSquare, m_chips[i].colour);
        const bool cut = i == whole;
        painter.drawText(QRect(text, 0, room, height()), Qt::AlignVCenter | Qt::AlignLeft,
                         cut ? fontMetrics().elidedText(m_chips[i].text, Qt::ElideRight, room)
                             : m_chips[i].text);
        if (cut) break;
        x += widthOf(m_chips[i]) + kDistance;
    }
}

}  // namespace pleat::widgets
