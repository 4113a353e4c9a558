// Another run (NEW) beside the window's (BASE): is it faster and why, two pipelines that zoom and
// move together, each from the begin of its own iteration, where the mean iterations differ, and
// every row that was compared with its verdict.
#pragma once

#include <QLabel>
#include <QPushButton>

#include "models/comparison_model.h"
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
    [[nodiscard]] bool settled() const override;

    // The run to compare with.
    void openOther(const QStringList& files);
    void openOther(opening::OpenRequest request);
    [[nodiscard]] models::TraceSession& otherSession() { return m_other; }
    [[nodiscard]] models::IterationModel& otherIteration() { return m_otherIteration; }
    [[nodiscard]] models::ComparisonModel& comparison() { return m_comparison; }
    // Parts of the mean iteration, and all that was compared.
    [[nodiscard]] const FigureView& means() const { return *m_means; }
    [[nodiscard]] const FigureView& rows() const { return *m_rows; }
    [[nodiscard]] QString status() const { return m_status->text(); }
    [[nodiscard]] PipelineView& view() { return *m_view; }
    [[nodiscard]] PipelineView& otherView() { return *m_otherView; }

  private:
    void update();
    void chooseOther();
    // What stands above the pipelines.
    [[nodiscard]] QString statusText() const;
    void showPipelines();
    // From now on `to` shows what `from` shows, counted from the begin of its own iteration.
    void moveTogether(PipelineView& from, PipelineView& to);

    models::IterationModel& m_iteration;
    models::TraceSession m_other;
    models::IterationModel m_otherIteration;
    models::ComparisonModel m_comparison;
    QLabel* m_status;
    QPushButton* m_choose;
    PipelineView *m_view, *m_otherView;
    FigureView *m_means, *m_rows;
    bool m_following = false;
};

}  // namespace pleat::widgets
