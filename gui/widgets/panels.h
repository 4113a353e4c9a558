// The panels beside the pages: the facts of what is selected, and the critical path of the
// iteration.
#pragma once

#include <QLabel>
#include <QWidget>

#include "models/iteration_model.h"
#include "widgets/figure_view.h"

namespace pleat::widgets {

class FactsPanel : public QWidget {
    Q_OBJECT

  public:
    explicit FactsPanel(QWidget* parent = nullptr);

    void show(const QString& title, models::Figures facts);
    void clear();
    [[nodiscard]] const FigureView& table() const { return *m_table; }
    [[nodiscard]] QString title() const { return m_title->text(); }

  signals:
    void placeChosen(const pleat::models::Place& place);

  private:
    QLabel* m_title;
    FigureView* m_table;
};

class PathPanel : public QWidget {
    Q_OBJECT

  public:
    explicit PathPanel(models::IterationModel& iteration, QWidget* parent = nullptr);

    // One piece on (1) or back (-1) along the path, and there.
    void step(int by);
    [[nodiscard]] const FigureView& attribution() const { return *m_attribution; }
    [[nodiscard]] const FigureView& pieces() const { return *m_pieces; }
    [[nodiscard]] QString title() const { return m_title->text(); }

  signals:
    void placeChosen(const pleat::models::Place& place);
    // Of a piece that is no event: a pause.
    void factsWanted(const QString& title, const pleat::models::Figures& facts);

  private:
    void update();
    void choose(const models::Place& place);

    models::IterationModel& m_iteration;
    QLabel* m_title;
    FigureView* m_attribution;
    FigureView* m_pieces;
};

}  // namespace pleat::widgets
