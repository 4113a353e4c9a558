#include "widgets/sql_page.h"

#include <QHBoxLayout>
#include <QShortcut>
#include <QVBoxLayout>

#include "widgets/save_dialog.h"

namespace pleat::widgets {

SqlPage::SqlPage(models::TraceSession& session, QWidget* parent)
    : SessionView(session, parent),
      m_editor(new QPlainTextEdit(this)),
      m_run(new QPushButton(tr("&Run"), this)),
      m_stop(new QPushButton(tr("&Stop"), this)),
      m_csv(new QPushButton(tr("Save as &CSV…"), this)),
      m_save(new QPushButton(tr("Save as a *.pleat file…"), this)),
      m_status(new QLabel(this)),
      m_results(new FigureView(this)) {
    m_editor->setPlainText(QStringLiteral(
        "select kind, count(*) as tasks, sum(end_ns - start_ns) as ns from task group by kind;"));
    m_editor->setMaximumHeight(140);
    m_editor->setTabChangesFocus(true);
    m_editor->setAccessibleName(tr("SQL"));
    m_results->setAccessibleName(tr("Results"));
    m_status->setTextFormat(Qt::PlainText);
    m_status->setWordWrap(true);
    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {m_run, m_stop, m_csv, m_save}) buttons->addWidget(button);
    buttons->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_editor);
    layout->addLayout(buttons);
    layout->addWidget(m_status);
    layout->addWidget(m_results, 1);
    const auto* execute = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
    connect(execute, &QShortcut::activated, this, &SqlPage::run);
    connect(m_run, &QPushButton::clicked, this, &SqlPage::run);
    connect(m_stop, &QPushButton::clicked, &m_query, &models::SqlQuery::cancel);
    connect(m_csv, &QPushButton::clicked, this, &SqlPage::chooseCsvFile);
    connect(m_save, &QPushButton::clicked, this, &SqlPage::chooseDatabaseFile);
    connect(&m_query, &models::SqlQuery::finished, this, &SqlPage::showResults);
    connect(m_results, &FigureView::placeChosen, this, &SessionView::placeChosen);
    connect(&session, &models::TraceSession::traceChanged, this, &SqlPage::update);
    update();
}

QList<KeyHelp> SqlPage::keys() const {
    return {{tr("Ctrl+Enter"), tr("run the query")},
            {tr("Enter"), tr("show the times of a row (start_ns, end_ns) on the timeline")}};
}

void SqlPage::run() {
    if (session().database().empty()) return;
    m_query.run(session().database(), m_editor->toPlainText());
    m_status->setText(tr("Running…"));
    m_stop->setEnabled(true);
}

void SqlPage::update() {
    const bool imported = session().trace() != nullptr && session().database().empty();
    m_save->setVisible(imported);
    m_run->setEnabled(!imported);
    m_stop->setEnabled(false);
    m_csv->setEnabled(false);
    m_results->setFigures({});
    m_status->setText(imported ? tr("This trace was imported and has no database to query. Save it "
                                    "as a *.pleat file; the viewer then opens that.")
                               : tr("Read-only SQL. Tables: select name from sqlite_schema; "
                                    "docs/trace_database.md describes them."));
}

void SqlPage::showResults() {
    m_stop->setEnabled(false);
    m_results->setFigures(m_query.figures());
    m_csv->setEnabled(!m_query.figures().columns.isEmpty());
    const std::int64_t rows = m_query.rowCount();
    m_status->setText(!m_query.error().isEmpty() ? m_query.error()
                      : rows > models::kMostRows
                          ? tr("%1 rows; the first %2 are shown").arg(rows).arg(models::kMostRows)
                          : tr("%n row(s)", nullptr, static_cast<int>(rows)));
}

void SqlPage::chooseCsvFile() {
    const QString file = chooseFileToSave(*this, tr("Save the results"), tr("CSV files (*.csv)"),
                                          QStringLiteral("csv"));
    if (!file.isEmpty()) exportCsv(file);
}

void SqlPage::exportCsv(const QString& file) {
    if (m_query.figures().columns.isEmpty()) return;
    save(
        file, [table = m_query.table(), file] { return models::saveCsv(*table, file); }, [] {});
}

void SqlPage::chooseDatabaseFile() {
    const QString file = chooseFileToSave(*this, tr("Save the trace"), tr("Pleat traces (*.pleat)"),
                                          QStringLiteral("pleat"));
    if (!file.isEmpty()) saveAsDatabase(file);
}

void SqlPage::saveAsDatabase(const QString& file) {
    const auto trace = session().trace();
    if (!trace) return;
    save(
        file, [trace, file] { return models::saveDatabase(*trace, file); },
        [this, trace, file] {
            // Unless another trace was opened meanwhile.
            if (session().trace() == trace) session().open({{file.toStdString()}, {}, {}});
        });
}

void SqlPage::save(const QString& file, std::function<QString()> write,
                   std::function<void()> saved) {
    m_csv->setEnabled(false);
    m_save->setEnabled(false);
    m_status->setText(tr("Saving %1…").arg(file));
    m_saving.start([write = std::move(write)](const std::stop_token&) { return write(); },
                   [this, file, saved = std::move(saved)](const QString& error) {
                       m_csv->setEnabled(!m_query.figures().columns.isEmpty());
                       m_save->setEnabled(true);
                       m_status->setText(error.isEmpty() ? tr("Saved %1").arg(file) : error);
                       if (error.isEmpty()) saved();
                   });
}

}  // namespace pleat::widgets
