// The pipeline of one iteration: which one, what is drawn of it, and what its colours mean.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QStackedWidget>

#include "models/iteration_model.h"
#include "widgets/iteration_box.h"
#include "widgets/pipeline_view.h"
#include "widgets/session_view.h"

namespace pleat::widgets {

class PipelinePage : public SessionView {
    Q_OBJECT

  public:
    PipelinePage(models::TraceSession& session, models::IterationModel& iteration, QWidget* parent);

    void goTo(const models::Place& place) override;
    [[nodiscard]] bool shows(const models::Place& place) const override;
    [[nodiscard]] QList<KeyHelp> keys() const override;

    [[nodiscard]] PipelineView& view() { return *m_view; }
    // What stands in place of the picture; empty while there is one.
    [[nodiscard]] QString message() const;

  private:
    void update();
    void updateLegend();
    void reportSelection(const timeline::PipelineHit& hit);
    [[nodiscard]] models::Place placeOfHit(const timeline::PipelineHit& hit) const;

    models::IterationModel& m_iteration;
    IterationBox* m_number;
    QCheckBox* m_ghosts;
    QCheckBox* m_messages;
    QCheckBox* m_slack;
    QLabel* m_legend;
    QLabel* m_message;
    QStackedWidget* m_stack;
    PipelineView* m_view;
    models::Place m_wanted;  // to be shown once its iteration is analysed
};

}  // namespace pleat::widgets
