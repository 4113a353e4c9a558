#include "widgets/panels.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "models/path_figures.h"

namespace pleat::widgets {

FactsPanel::FactsPanel(QWidget* parent)
    : QWidget(parent), m_title(new QLabel(this)), m_table(new FigureView(this)) {
    m_title->setTextFormat(Qt::PlainText);
    m_title->setWordWrap(true);
    clear();
    m_table->setAccessibleName(tr("Details of the selection"));
    m_table->setWrapped();
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_title);
    layout->addWidget(m_table, 1);
    connect(m_table, &FigureView::placeChosen, this, &FactsPanel::placeChosen);
}

void FactsPanel::show(const QString& title, models::Figures facts) {
    m_title->setText(title);
    m_table->setFigures(std::move(facts));
}

void FactsPanel::clear() {
    show(tr("Nothing is selected. Click a task, an event or an idle gap."), {});
}

PathPanel::PathPanel(models::IterationModel& iteration, QWidget* parent)
    : QWidget(parent),
      m_iteration(iteration),
      m_title(new QLabel(this)),
      m_attribution(new FigureView(this)),
      m_pieces(new FigureView(this)) {
    m_title->setTextFormat(Qt::PlainText);
    m_title->setWordWrap(true);
    m_attribution->setAccessibleName(tr("Composition of the critical path"));
    m_pieces->setAccessibleName(tr("Pieces of the critical path"));
    auto* previous = new QPushButton(tr("&Previous piece"), this);
    auto* next = new QPushButton(tr("&Next piece"), this);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(previous);
    buttons->addWidget(next);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_title);
    layout->addWidget(m_attribution, 1);
    layout->addLayout(buttons);
    layout->addWidget(m_pieces, 2);
    connect(previous, &QPushButton::clicked, this, [this] { step(-1); });
    connect(next, &QPushButton::clicked, this, [this] { step(1); });
    connect(m_pieces, &FigureView::placeChosen, this, &PathPanel::choose);
    connect(&m_iteration, &models::IterationModel::changed, this, &PathPanel::update);
    update();
}

void PathPanel::step(int by) {
    const int rows = m_pieces->model()->rowCount();
    if (rows == 0) return;
    const QModelIndex current = m_pieces->currentIndex();
    const int row = current.isValid() ? std::clamp(current.row() + by, 0, rows - 1) : 0;
    const QModelIndex index = m_pieces->model()->index(row, 0);
    m_pieces->setCurrentIndex(index);
    choose(m_pieces->placeAt(index));
}

void PathPanel::choose(const models::Place& place) {
    emit placeChosen(place);
    if (!place.event.valid() && place.range)
        emit factsWanted(tr("A pause on the critical path"), models::pauseFacts(place));
}

void PathPanel::update() {
    const auto results = m_iteration.results();
    if (!results) {
        m_title->setText(m_iteration.working()             ? tr("Analysing…")
                         : m_iteration.problem().isEmpty() ? tr("No trace is open.")
                                                           : m_iteration.problem());
        m_attribution->setFigures({});
        m_pieces->setFigures({});
        return;
    }
    m_title->setText(results->analysis.graph
                         ? tr("The critical path of iteration %1: what has to become faster for "
                              "the iteration to")
                               .arg(results->analysis.window.iteration)
                         : tr("No critical path: %1")
                               .arg(QString::fromStdString(results->analysis.withoutGraph)));
    m_attribution->setFigures(models::pathAttribution(*results));
    m_pieces->setFigures(models::pathPieces(*results));
}

}  // namespace pleat::widgets
