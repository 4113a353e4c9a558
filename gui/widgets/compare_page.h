// Another run beside the window's: two pipelines that zoom and move together, each from the begin
// of its own iteration, and where the mean iteration of the two differs.
#pragma once

#include <QLabel>
#include <QPushButton>

#include "models/iteration_model.h"
#include "widgets/figure_view.h"
#include "widgets/pipeline_view.h"
#include "widgets/session_view.h"

namespace pleat::widgets {

class ComparePage : public SessionView {
    Q_OBJECT

  public:
    ComparePage(models::TraceSession& session, models::IterationModel& iteration, QWidget* parent);

    void goTo(const models::Place&) override {}
    [[nodiscard]] bool shows(const models::Place&) const override { return false; }

    // The run to compare with.
    void openOther(const QStringList& files);
    [[nodiscard]] models::TraceSession& otherSession() { return m_other; }
    [[nodiscard]] models::IterationModel& otherIteration() { return m_otherIteration; }
    [[nodiscard]] const FigureView& table() const { return *m_table; }
    [[nodiscard]] QString status() const { return m_status->text(); }
    [[nodiscard]] PipelineView& view() { return *m_view; }
    [[nodiscard]] PipelineView& otherView() { return *m_otherView; }

  private:
    void update();
    void chooseOther();
    // Makes `to` show what `from` shows, counted from the begin of its own iteration.
    void follow(const PipelineView& from, PipelineView& to);

    models::IterationModel& m_iteration;
    models::TraceSession m_other;
    models::IterationModel m_otherIteration;
    QLabel* m_status;
    QPushButton* m_choose;
    PipelineView *m_view, *m_otherView;
    FigureView* m_table;
    bool m_following = false;
};

}  // namespace pleat::widgets
