#include "widgets/pages.h"

#include <QVBoxLayout>

#include "models/diagnostic_figures.h"

namespace pleat::widgets {

DiagnosticsPage::DiagnosticsPage(models::TraceSession& session, QWidget* parent)
    : SessionView(session, parent), m_summary(new QLabel(this)), m_table(new FigureView(this)) {
    m_table->setAccessibleName(tr("Diagnostics"));
    m_summary->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_summary);
    layout->addWidget(m_table, 1);
    connect(m_table, &FigureView::placeChosen, this, &SessionView::placeChosen);
    connect(&session, &models::TraceSession::traceChanged, this, &DiagnosticsPage::update);
    connect(&session, &models::TraceSession::resultsChanged, this, &DiagnosticsPage::update);
    update();
}

void DiagnosticsPage::update() {
    base::Diagnostics all;
    if (session().results()) {
        all = session().results()->run.diagnostics;  // the trace's own are in it
    } else if (session().trace()) {
        all = session().trace()->diagnostics();
    }
    m_table->setFigures(models::diagnosticFigures(all, session().trace().get()));
    m_summary->setText(all.empty()
                           ? tr("Nothing had to be repaired, dropped or guessed.")
                           : tr("What was repaired, dropped or guessed, with one example of each "
                                "kind. Click an example to go to its place in the trace."));
}

}  // namespace pleat::widgets
