// The whole run as one strip, with the stretch of time in view as a frame that can be dragged.
#pragma once

#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "timeline/palette.h"
#include "timeline/viewport.h"

namespace pleat::widgets {

class TimelineMinimap : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineMinimap(QWidget* parent = nullptr);

    // How busy the run was, part by part, 0 … 255 (models::busyStrip); empty: not known yet.
    void setStrip(std::vector<std::uint8_t> strip);
    void setWhole(base::Interval whole);
    void setShown(base::Interval shown);
    void setTheme(timeline::Theme theme);
    [[nodiscard]] const std::vector<std::uint8_t>& strip() const { return m_strip; }
    // Where the frame lies.
    [[nodiscard]] QRect frameRect() const;
    [[nodiscard]] QSize sizeHint() const override { return {400, 40}; }

  signals:
    void centreWanted(pleat::base::TraceTime time);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    void ask(int x);

    std::vector<std::uint8_t> m_strip;
    base::Interval m_whole, m_shown;
    timeline::Theme m_theme = timeline::Theme::Light;
};

}  // namespace pleat::widgets
