// A table of figures (models/figure_model.h): sorted by a click on a head, copied with Ctrl+C, and
// a row or cell that leads somewhere says so when it is clicked or Enter is pressed.
#pragma once

#include <QTableView>

#include "models/figure_model.h"

class QSortFilterProxyModel;

namespace pleat::widgets {

class FigureView : public QTableView {
    Q_OBJECT

  public:
    explicit FigureView(QWidget* parent = nullptr);

    void setFigures(models::Figures figures);
    [[nodiscard]] const models::FigureModel& figures() const { return *m_model; }
    // As tall as its rows, for tables that stand among others on a page; at most `mostRows` of
    // them.
    void setHeightForRows(int mostRows);
    // Long text goes on in the next line, not to the right: for few rows in a narrow place.
    void setWrapped();
    // Where the cell leads, else the first of its row that leads anywhere.
    [[nodiscard]] models::Place placeAt(const QModelIndex& index) const;
    // The selected rows, cells separated by tabs.
    [[nodiscard]] QString selectedText() const;

  signals:
    void placeChosen(const pleat::models::Place& place);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void choose(const QModelIndex& index);
    void fitColumns();

    models::FigureModel* m_model;
    QSortFilterProxyModel* m_sorted;
    bool m_wrapped = false;
    int m_mostRows = 0;  // 0: as tall as the layout makes it
};

}  // namespace pleat::widgets
