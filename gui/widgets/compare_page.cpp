#include "widgets/compare_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "models/compare_figures.h"

namespace pleat::widgets {

using State = models::TraceSession::State;

ComparePage::ComparePage(models::TraceSession& session, models::IterationModel& iteration,
                         QWidget* parent)
    : SessionView(session, parent),
      m_iteration(iteration),
      m_otherIteration(m_other),
      m_status(new QLabel(this)),
      m_choose(new QPushButton(tr("Compare &with…"), this)),
      m_view(new PipelineView(this)),
      m_otherView(new PipelineView(this)),
      m_table(new FigureView(this)) {
    m_status->setTextFormat(Qt::PlainText);
    m_status->setWordWrap(true);
    m_view->setAccessibleName(tr("Pipeline of this run"));
    m_otherView->setAccessibleName(tr("Pipeline of the other run"));
    m_table->setAccessibleName(tr("Differences"));
    auto* head = new QHBoxLayout;
    head->addWidget(m_choose);
    head->addWidget(m_status, 1);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    layout->addWidget(m_view, 2);
    layout->addWidget(m_otherView, 2);
    layout->addWidget(m_table, 2);
    connect(m_choose, &QPushButton::clicked, this, &ComparePage::chooseOther);
    connect(m_table, &FigureView::placeChosen, this, &SessionView::placeChosen);
    connect(m_view, &PipelineView::rangeChanged, this, [this] { follow(*m_view, *m_otherView); });
    connect(m_otherView, &PipelineView::rangeChanged, this,
            [this] { follow(*m_otherView, *m_view); });
    for (const models::TraceSession* either : {&this->session(), &m_other}) {
        connect(either, &models::TraceSession::stateChanged, this, &ComparePage::update);
        connect(either, &models::TraceSession::resultsChanged, this, &ComparePage::update);
    }
    connect(&m_iteration, &models::IterationModel::changed, this, &ComparePage::update);
    connect(&m_otherIteration, &models::IterationModel::changed, this, &ComparePage::update);
    update();
}

void ComparePage::openOther(const QStringList& files) {
    opening::OpenRequest request;
    for (const QString& file : files) request.files.emplace_back(file.toStdString());
    if (!request.files.empty()) m_other.open(std::move(request));
}

void ComparePage::chooseOther() {
    openOther(QFileDialog::getOpenFileNames(
        this, tr("Open the trace to compare with"), {},
        tr("Traces (*.pleat *.json *.json.gz *.json.zst *.sqlite);;All files (*)")));
}

void ComparePage::update() {
    m_view->setResults(m_iteration.results());
    m_otherView->setResults(m_otherIteration.results());
    const auto ours = session().results();
    const auto theirs = m_other.results();
    const bool both = ours && theirs;
    m_table->setFigures(both ? models::compareFigures(*ours, *theirs) : models::Figures());
    m_view->setVisible(m_other.state() == State::Loaded);
    m_otherView->setVisible(m_other.state() == State::Loaded);
    switch (m_other.state()) {
        case State::Empty:
            m_status->setText(
                tr("Choose a second run; it is shown below this one, and where the "
                   "two differ."));
            break;
        case State::Loading:
            m_status->setText(tr("Loading %1").arg(m_other.name()));
            break;
        case State::Failed:
            m_status->setText(m_other.error());
            break;
        case State::Loaded:
            m_status->setText(both ? tr("Above: this run. Below: %1. Orange: longer, blue: "
                                        "shorter.")
                                         .arg(m_other.name())
                                   : tr("Analysing…"));
            break;
    }
}

void ComparePage::follow(const PipelineView& from, PipelineView& to) {
    if (m_following || !from.results() || !to.results()) return;
    m_following = true;
    const base::Duration shift =
        to.results()->scene.window.begin - from.results()->scene.window.begin;
    const base::Interval shown = from.visibleRange();
    to.showRange({shown.begin + shift, shown.end + shift});
    m_following = false;
}

}  // namespace pleat::widgets
