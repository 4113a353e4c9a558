// Bars of equal length cut into parts, one per rank: where its time went. A part is a click, or the
// arrow keys and Enter, away from the place it speaks of.
#pragma once

#include <QWidget>
#include <vector>

#include "models/answer_figures.h"

namespace pleat::widgets {

class StackedBars : public QWidget {
    Q_OBJECT

  public:
    explicit StackedBars(QWidget* parent = nullptr);

    void setBars(std::vector<models::Bar> bars);
    [[nodiscard]] const std::vector<models::Bar>& bars() const { return m_bars; }
    // The part that the keyboard is at, in words; empty without bars.
    [[nodiscard]] QString currentText() const;
    [[nodiscard]] QSize sizeHint() const override;

  signals:
    void placeChosen(const pleat::models::Place& place);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct At {
        int bar = 0, segment = 0;
    };
    [[nodiscard]] QRect rectOf(At at) const;
    // Nothing there: segment -1.
    [[nodiscard]] At partAt(QPoint point) const;
    [[nodiscard]] QString textOf(At at) const;
    void moveTo(At at);
    void choose();

    std::vector<models::Bar> m_bars;
    At m_current;
};

}  // namespace pleat::widgets
