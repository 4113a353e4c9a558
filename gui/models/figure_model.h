// A table of figures: text cells that sort by value and lead to a place in the trace. Every table
// of the viewer is one of these, filled by a pure function (…_figures.h). One thread, the window's.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>
#include <QVariant>
#include <cstdint>
#include <vector>

#include "models/place.h"

namespace pleat::models {

enum class Tone : std::uint8_t { Plain, Longer, Shorter };

struct Cell {
    QString text;
    QVariant value;  // to sort by; a number also aligns the text to the right; invalid: the text
    Place place;     // empty: leads nowhere
    Tone tone = Tone::Plain;
};

struct Figures {
    QStringList columns;
    std::vector<std::vector<Cell>> rows;  // each as long as columns
};

class FigureModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    using QAbstractTableModel::QAbstractTableModel;

    void setFigures(Figures figures);
    [[nodiscard]] const Figures& figures() const { return m_figures; }
    [[nodiscard]] Place placeAt(const QModelIndex& index) const;

    static constexpr int kSortRole = Qt::UserRole;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

  private:
    Figures m_figures;
};

}  // namespace pleat::models
