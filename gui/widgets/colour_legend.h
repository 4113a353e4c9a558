// What colours mean, in one line: a chip and a word each, as many as fit. The tooltip has them all,
// up to what a screen has room for; the description, for those who hear it, always has.
#pragma once

#include <QColor>
#include <QList>
#include <QString>
#include <QWidget>

namespace pleat::widgets {

struct LegendChip {
    QColor colour;
    QString text;
};

class ColourLegend : public QWidget {
    Q_OBJECT

  public:
    explicit ColourLegend(QWidget* parent = nullptr);

    void setChips(QList<LegendChip> chips);
    [[nodiscard]] const QList<LegendChip>& chips() const { return m_chips; }
    // How many of them fit whole; where one does not, it or an ellipsis stands cut at the end.
    [[nodiscard]] qsizetype fitting() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    [[nodiscard]] int widthOf(const LegendChip& chip) const;

    QList<LegendChip> m_chips;
};

}  // namespace pleat::widgets
