#include "models/figure_model.h"

#include <QColor>
#include <utility>

namespace pleat::models {
namespace {

// Of Okabe and Ito, told apart with any of the common colour-vision deficiencies.
QColor colourOf(Tone tone) {
    return tone == Tone::Longer ? QColor(213, 94, 0) : QColor(0, 114, 178);
}

}  // namespace

void FigureModel::setFigures(Figures figures) {
    beginResetModel();
    m_figures = std::move(figures);
    endResetModel();
}

Place FigureModel::placeAt(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    return m_figures
        .rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())]
        .place;
}

int FigureModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_figures.rows.size());
}

int FigureModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_figures.columns.size());
}

QVariant FigureModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Cell& cell =
        m_figures
            .rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    const bool isNumber = cell.value.isValid();
    switch (role) {
        case Qt::DisplayRole:
        case Qt::ToolTipRole:
            return cell.text;
        case Qt::AccessibleTextRole:
            return QStringLiteral("%1: %2").arg(m_figures.columns[index.column()], cell.text);
        case Qt::TextAlignmentRole:
            return QVariant(Qt::AlignVCenter | (isNumber ? Qt::AlignRight : Qt::AlignLeft));
        case Qt::ForegroundRole:
            return cell.tone == Tone::Plain ? QVariant() : QVariant(colourOf(cell.tone));
        case kSortRole:
            return isNumber ? cell.value : QVariant(cell.text);
        default:
            return {};
    }
}

QVariant FigureModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section < m_figures.columns.size() ? m_figures.columns[section] : QVariant();
}

}  // namespace pleat::models
