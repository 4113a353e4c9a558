#include "widgets/session_view.h"

#include <QEvent>

namespace pleat::widgets {

QAction* SessionView::addCommand(const QString& text) {
    auto* action = new QAction(text, this);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    m_commands << action;
    return action;
}

QAction* SessionView::addToggle(QCheckBox* box) {
    QAction* action = addCommand(box->text());
    box->setFocusPolicy(Qt::TabFocus);  // a click leaves the keys to the picture
    action->setCheckable(true);
    action->setChecked(box->isChecked());
    action->setEnabled(box->isEnabled());
    connect(action, &QAction::toggled, box, &QCheckBox::setChecked);
    connect(box, &QCheckBox::toggled, action, &QAction::setChecked);
    box->installEventFilter(this);  // for being enabled or not
    m_toggles.insert(box, action);
    return action;
}

bool SessionView::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::EnabledChange) {
        if (QAction* action = m_toggles.value(watched))
            action->setEnabled(qobject_cast<QWidget*>(watched)->isEnabled());
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace pleat::widgets
