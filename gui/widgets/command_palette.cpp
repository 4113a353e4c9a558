#include "widgets/command_palette.h"

#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/figure_view.h"

namespace pleat::widgets {

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent), m_filter(new QLineEdit(this)), m_list(new QListWidget(this)) {
    setWindowTitle(tr("Commands"));
    for (QAction* action : actions) {
        if (action->isEnabled() && !action->text().isEmpty()) m_actions << action;
    }
    m_filter->setPlaceholderText(tr("Type part of a command's name"));
    m_filter->setAccessibleName(tr("Filter commands"));
    m_list->setAccessibleName(tr("Commands"));
    m_filter->installEventFilter(this);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_filter);
    layout->addWidget(m_list);
    resize(480, 360);
    connect(m_filter, &QLineEdit::textChanged, this, &CommandPalette::fill);
    connect(m_filter, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemActivated, this, &CommandPalette::run);
    fill();
}

QStringList CommandPalette::shown() const {
    QStringList texts;
    for (int row = 0; row < m_list->count(); ++row) texts << m_list->item(row)->text();
    return texts;
}

void CommandPalette::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (item == nullptr) return;
    QAction* action = m_actions[item->data(Qt::UserRole).toInt()];
    accept();
    action->trigger();
}

// The arrow keys move in the list while one types.
bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_filter || event->type() != QEvent::KeyPress)
        return QDialog::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key != Qt::Key_Up && key != Qt::Key_Down) return QDialog::eventFilter(watched, event);
    const int row = m_list->currentRow() + (key == Qt::Key_Down ? 1 : -1);
    m_list->setCurrentRow(std::clamp(row, 0, std::max(m_list->count() - 1, 0)));
    return true;
}

void CommandPalette::fill() {
    m_list->clear();
    for (qsizetype i = 0; i < m_actions.size(); ++i) {
        const QString text = plainText(*m_actions[i]);
        if (!text.contains(m_filter->text(), Qt::CaseInsensitive)) continue;
        const QString keys = m_actions[i]->shortcut().toString(QKeySequence::NativeText);
        auto* item =
            new QListWidgetItem(keys.isEmpty() ? text : tr("%1  (%2)").arg(text, keys), m_list);
        item->setData(Qt::UserRole, static_cast<int>(i));
    }
    m_list->setCurrentRow(0);
}

QString plainText(const QAction& action) {
    return QString(action.text()).remove(QLatin1Char('&')).remove(QChar(0x2026));
}

KeyList::KeyList(const QList<KeyHelp>& keys, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keys"));
    models::Figures figures;
    figures.columns = {tr("Key"), tr("Does")};
    for (const KeyHelp& key : keys) figures.rows.push_back({{key.key, {}, {}}, {key.does, {}, {}}});
    auto* table = new FigureView(this);
    table->setAccessibleName(tr("Keys"));
    table->setFigures(std::move(figures));
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(table);
    resize(560, 520);
}

}  // namespace pleat::widgets
