// Read-only SQL on the trace: an editor, a table of results, CSV. A trace that was imported has no
// database of its own until it is saved as one.
#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>

#include "models/sql_query.h"
#include "widgets/figure_view.h"
#include "widgets/session_view.h"

namespace pleat::widgets {

class SqlPage : public SessionView {
    Q_OBJECT

  public:
    SqlPage(models::TraceSession& session, QWidget* parent);

    void goTo(const models::Place&) override {}
    [[nodiscard]] bool shows(const models::Place&) const override { return false; }
    [[nodiscard]] QList<KeyHelp> keys() const override;

    void setQuery(const QString& sql) { m_editor->setPlainText(sql); }
    void run();
    [[nodiscard]] bool running() const { return m_query.running(); }
    [[nodiscard]] const FigureView& results() const { return *m_results; }
    [[nodiscard]] QString status() const { return m_status->text(); }
    // The error in one line, else empty.
    [[nodiscard]] QString exportCsv(const QString& file) const;

  private:
    void update();
    void showResults();
    void chooseCsvFile();
    void saveAsDatabase();

    models::SqlQuery m_query;
    QPlainTextEdit* m_editor;
    QPushButton *m_run, *m_stop, *m_csv, *m_save;
    QLabel* m_status;
    FigureView* m_results;
};

}  // namespace pleat::widgets
