// Paints a pipeline scene and moves through it: zoom, pan and the way back, selection of a task, a
// gap or an area. What lies where is timeline/pipeline_geometry's.
#pragma once

#include <QAbstractScrollArea>
#include <QPoint>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>

#include "models/iteration_model.h"
#include "timeline/navigator.h"
#include "timeline/pipeline_geometry.h"
#include "timeline/pipeline_steps.h"

class QPainter;

namespace pleat::widgets {

// Rows [first, last], and a stretch of time.
struct PipelineArea {
    std::uint32_t firstRow = 0, lastRow = 0;
    base::Interval range;
};

class PipelineView : public QAbstractScrollArea {
    Q_OBJECT

  public:
    explicit PipelineView(QWidget* parent = nullptr);

    // Null clears it.
    void setResults(std::shared_ptr<const models::IterationResults> results);
    // All that can be shown lasts at least this long, from the iteration's begin: of pictures that
    // have one scale. Shows all.
    void setLeastTime(base::Duration least);
    // What is in view and selected stays.
    void setRows(timeline::PipelineRows rows);
    [[nodiscard]] timeline::PipelineRows rows() const { return m_rows; }
    void showRange(base::Interval range);
    void centreOn(base::TraceTime time);
    void showRow(std::int32_t rank);
    void selectEvent(trace::EventId event);
    void fit();
    void undoNavigation();
    void redoNavigation();
    // Shows what the other one does, counted from the begin of its own iteration, at the same rows,
    // and with the same way back.
    void follow(const PipelineView& other);
    void setGhosts(bool shown);
    void setMessages(bool shown);
    // Tasks the paler, the more slack they have.
    void setSlack(bool shown);

    [[nodiscard]] base::Interval visibleRange() const;
    [[nodiscard]] std::shared_ptr<const models::IterationResults> results() const {
        return m_results;
    }
    // What is shown of them; only where there are any.
    [[nodiscard]] const timeline::PipelineScene& scene() const {
        return m_results->sceneBy(m_rows);
    }
    [[nodiscard]] std::optional<timeline::PipelineHit> selection() const { return m_selection; }
    [[nodiscard]] std::optional<PipelineArea> area() const { return m_area; }
    // The pixel at the middle of a task, in the viewport; for tests.
    [[nodiscard]] QPoint pointOfTask(std::size_t task) const;

  signals:
    void rangeChanged();
    void selected(const pleat::timeline::PipelineHit& hit);
    void cleared();  // nothing is selected any more
    void areaSelected(const pleat::widgets::PipelineArea& area);
    // Enter or a double click on a task or gap.
    void activated(const pleat::timeline::PipelineHit& hit);

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    [[nodiscard]] timeline::PipelineViewport pipelineViewport() const;
    [[nodiscard]] std::optional<timeline::PipelineHit> hitAtPoint(QPoint point) const;
    // All that can be shown.
    [[nodiscard]] base::Interval whole() const;
    // The navigator moved: motion goes on.
    void moved();
    // As if it had just been opened: all is in view, and there is no way back.
    void startAnew();
    // By its name (navigation_input.h); false for one that means nothing here.
    bool press(const std::string& key);
    void moveSelection(timeline::PipelineStep step);
    void activateSelection();
    void bringIntoView(std::uint32_t row);
    void select(std::optional<timeline::PipelineHit> hit);
    // The navigator learns the size of the picture, the scroll bar what there is to scroll.
    void updateSize();
    void updateArea();
    void paintRows(QPainter& painter, const timeline::PipelineViewport& viewport) const;
    void paintBoxes(QPainter& painter, const timeline::PipelineFrame& frame) const;
    void paintRuler(QPainter& painter) const;
    [[nodiscard]] int pictureWidth() const;
    [[nodiscard]] int rowHeight() const;

    std::shared_ptr<const models::IterationResults> m_results;
    timeline::PipelineRows m_rows = timeline::PipelineRows::Rank;
    base::Duration m_leastTime;
    timeline::Navigator m_navigator;
    QTimer m_motionEnd;  // motion that pauses is over
    bool m_ghosts = false, m_messages = true, m_slack = false;
    std::optional<timeline::PipelineHit> m_selection;
    std::optional<PipelineArea> m_area;
};

}  // namespace pleat::widgets
