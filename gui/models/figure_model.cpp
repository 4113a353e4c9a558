#include "models/figure_model.h"

#include <utility>

namespace pleat::models {

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
