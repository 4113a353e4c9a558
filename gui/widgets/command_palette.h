// Everything the window can do, by typing a part of its name: Ctrl+Shift+P. And the list of all
// keys.
#pragma once

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

#include "widgets/session_view.h"

namespace pleat::widgets {

class CommandPalette : public QDialog {
    Q_OBJECT

  public:
    // Of the actions those that can be triggered now; they outlive the dialog.
    CommandPalette(const QList<QAction*>& actions, QWidget* parent);

    void setFilter(const QString& text) { m_filter->setText(text); }
    [[nodiscard]] QStringList shown() const;
    // Triggers the selected one and closes.
    void run();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void fill();

    QList<QAction*> m_actions;
    QLineEdit* m_filter;
    QListWidget* m_list;
};

// A menu's text without the marks of its keys.
[[nodiscard]] QString plainText(const QAction& action);

// All actions with keys, then the keys that views have of their own.
class KeyList : public QDialog {
    Q_OBJECT

  public:
    KeyList(const QList<KeyHelp>& keys, QWidget* parent);
};

}  // namespace pleat::widgets
