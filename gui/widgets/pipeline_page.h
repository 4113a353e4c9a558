// The pipeline of one iteration: which one, its rows, what is drawn of it, the whole of it as a
// strip, and what its colours mean.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>

#include "models/iteration_model.h"
#include "widgets/iteration_box.h"
#include "widgets/pipeline_view.h"
#include "widgets/session_view.h"
#include "widgets/timeline_minimap.h"

namespace pleat::widgets {

class PipelinePage : public SessionView {
    Q_OBJECT

  public:
    PipelinePage(models::TraceSession& session, models::IterationModel& iteration, QWidget* parent);

    void goTo(const models::Place& place) override;
    [[nodiscard]] bool shows(const models::Place& place) const override;
    [[nodiscard]] QList<KeyHelp> keys() const override;

    [[nodiscard]] PipelineView& view() { return *m_view; }
    [[nodiscard]] TimelineMinimap& minimap() { return *m_minimap; }
    // As the choice beside the iteration's number.
    void setRows(timeline::PipelineRows rows);
    // What stands in place of the picture; empty while there is one.
    [[nodiscard]] QString message() const;

  private:
    void makeLayout();
    void connectView();
    void update();
    // What to do where there is no picture.
    [[nodiscard]] QString advice() const;
    void accountFor(const PipelineArea& area);
    void updateLegend();
    void reportSelection(const timeline::PipelineHit& hit);
    [[nodiscard]] models::Place placeOfHit(const timeline::PipelineHit& hit) const;

    models::IterationModel& m_iteration;
    IterationBox* m_number;
    QComboBox* m_rows;
    QCheckBox* m_ghosts;
    QCheckBox* m_messages;
    QCheckBox* m_slack;
    QLabel* m_legend;
    QLabel* m_message;
    QStackedWidget* m_stack;
    TimelineMinimap* m_minimap;
    PipelineView* m_view;
    models::Place m_wanted;  // to be shown once its iteration is analysed
};

}  // namespace pleat::widgets
