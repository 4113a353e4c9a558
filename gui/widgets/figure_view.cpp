#include "widgets/figure_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <algorithm>
#include <utility>

namespace pleat::widgets {
namespace {

constexpr int kMostColumnWidth = 420, kRowPadding = 6;
constexpr int kRowsMeasured = 200;  // of a long table, to size its columns

}  // namespace

FigureView::FigureView(QWidget* parent)
    : QTableView(parent),
      m_model(new models::FigureModel(this)),
      m_sorted(new QSortFilterProxyModel(this)) {
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(models::FigureModel::kSortRole);
    setModel(m_sorted);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setAlternatingRowColors(true);
    setWordWrap(false);
    setTabKeyNavigation(false);  // Tab leaves the table
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + kRowPadding);
    horizontalHeader()->setResizeContentsPrecision(kRowsMeasured);
    horizontalHeader()->setMaximumSectionSize(kMostColumnWidth);
    connect(this, &QTableView::clicked, this, &FigureView::choose);
    connect(this, &QTableView::activated, this, &FigureView::choose);
}

void FigureView::setFigures(models::Figures figures) {
    setSortingEnabled(false);  // as they come, until somebody asks for another order
    // Numbers stay beside each other; text may have the room that is left.
    const bool endsInText = figures.rows.empty() || !figures.rows.front().back().value.isValid();
    horizontalHeader()->setStretchLastSection(endsInText);
    m_model->setFigures(std::move(figures));
    m_sorted->sort(-1);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    setSortingEnabled(true);
    fitColumns();
    if (m_mostRows > 0) setHeightForRows(m_mostRows);
}

// What the last column needs is all that is left.
void FigureView::fitColumns() {
    resizeColumnsToContents();
    if (!m_wrapped) return;
    const int last = m_model->columnCount() - 1;
    if (last < 0) return;
    const int before = horizontalHeader()->length() - columnWidth(last);
    const int room = width() - 2 * frameWidth() - verticalScrollBar()->sizeHint().width();
    setColumnWidth(last, std::max(room - before, 80));
    resizeRowsToContents();
}

void FigureView::setWrapped() {
    m_wrapped = true;
    setWordWrap(true);
    setTextElideMode(Qt::ElideNone);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

void FigureView::setHeightForRows(int mostRows) {
    m_mostRows = mostRows;
    const int rows = std::clamp(m_model->rowCount(), 1, mostRows);
    const bool scrolls = horizontalHeader()->length() > width() - 2 * frameWidth();
    setFixedHeight(horizontalHeader()->sizeHint().height() +
                   rows * verticalHeader()->defaultSectionSize() + 2 * frameWidth() +
                   (scrolls ? horizontalScrollBar()->sizeHint().height() : 0));
}

void FigureView::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    if (event->size().width() == event->oldSize().width()) return;
    if (m_wrapped) fitColumns();
    if (m_mostRows > 0) setHeightForRows(m_mostRows);
}

models::Place FigureView::placeAt(const QModelIndex& index) const {
    const QModelIndex source = m_sorted->mapToSource(index);
    models::Place place = m_model->placeAt(source);
    for (int column = 0; place.empty() && column < m_model->columnCount(); ++column)
        place = m_model->placeAt(source.siblingAtColumn(column));
    return place;
}

QString FigureView::selectedText() const {
    QStringList lines;
    for (const QModelIndex& row : selectionModel()->selectedRows()) {
        QStringList cells;
        for (int column = 0; column < m_sorted->columnCount(); ++column)
            cells << row.siblingAtColumn(column).data().toString();
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

void FigureView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(selectedText());
    } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        choose(currentIndex());
    } else {
        QTableView::keyPressEvent(event);
    }
}

void FigureView::choose(const QModelIndex& index) {
    if (!index.isValid()) return;
    const models::Place place = placeAt(index);
    if (!place.empty()) emit placeChosen(place);
}

}  // namespace pleat::widgets
