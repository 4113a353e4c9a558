// The pages that are one table: diagnostics.
#pragma once

#include <QLabel>

#include "widgets/figure_view.h"
#include "widgets/session_view.h"

namespace pleat::widgets {

// What was repaired, dropped or guessed, in the trace and in its analysis.
class DiagnosticsPage : public SessionView {
    Q_OBJECT

  public:
    DiagnosticsPage(models::TraceSession& session, QWidget* parent);

    void goTo(const models::Place&) override {}
    [[nodiscard]] bool shows(const models::Place&) const override { return false; }
    [[nodiscard]] const FigureView& table() const { return *m_table; }
    [[nodiscard]] QString summary() const { return m_summary->text(); }

  private:
    void update();

    QLabel* m_summary;
    FigureView* m_table;
};

}  // namespace pleat::widgets
