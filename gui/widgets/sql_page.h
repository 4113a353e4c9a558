// Read-only SQL on the trace: an editor, a table of results, CSV. A trace that was imported has no
// database of its own until it is saved as one.
#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <functional>

#include "models/background.h"
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
    // Both in the background; the status says how it went. A file that is there is replaced.
    void exportCsv(const QString& file);
    // The viewer then opens that file.
    void saveAsDatabase(const QString& file);
    [[nodiscard]] bool saving() const { return m_saving.running(); }

  private:
    void update();
    void showResults();
    void chooseCsvFile();
    void chooseDatabaseFile();
    // `write` on another thread gives an error or nothing; then `saved` here.
    void save(const QString& file, std::function<QString()> write, std::function<void()> saved);

    models::SqlQuery m_query;
    QPlainTextEdit* m_editor;
    QPushButton *m_run, *m_stop, *m_csv, *m_save;
    QLabel* m_status;
    FigureView* m_results;
    models::Background m_saving;
};

}  // namespace pleat::widgets
