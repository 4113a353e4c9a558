// A view of the session's trace: one page of the main window. It is made with the session it shows
// and listens to it. This is the seam between the window and its pages: the window asks a view to
// go to a place, a view says that a place was chosen, and the window passes it on to the others.
#pragma once

#include <QAction>
#include <QCheckBox>
#include <QHash>
#include <QList>
#include <QString>
#include <QWidget>

#include "models/figure_model.h"
#include "models/place.h"
#include "models/trace_session.h"

namespace pleat::widgets {

// A key that works in a view, for the list of all keys.
struct KeyHelp {
    QString key, does;
};

class SessionView : public QWidget {
    Q_OBJECT

  public:
    SessionView(models::TraceSession& session, QWidget* parent)
        : QWidget(parent), m_session(session) {}

    // Shows what it can of the place; ignores the rest. Called for Loaded sessions only.
    virtual void goTo(const models::Place& place) = 0;
    // Can it show this place at all? The window brings the first view that can to the front.
    [[nodiscard]] virtual bool shows(const models::Place& place) const = 0;
    [[nodiscard]] virtual QList<KeyHelp> keys() const { return {}; }
    // What can be done here, for the menu and the palette of commands.
    [[nodiscard]] const QList<QAction*>& commands() const { return m_commands; }
    // False while it prepares, in the background, what it will show of the trace.
    [[nodiscard]] virtual bool settled() const { return true; }
    // What is exported as its picture.
    [[nodiscard]] virtual QWidget* picture() { return this; }

  signals:
    // Somebody wants to see this place.
    void placeChosen(const pleat::models::Place& place);
    // Somebody points at this place, here: the others may follow, none comes to the front.
    void placePointed(const pleat::models::Place& place);
    // Something that is no event was selected, with what is known about it.
    void factsWanted(const QString& title, const pleat::models::Figures& facts);
    // Nothing is selected here any more.
    void selectionCleared();

  protected:
    [[nodiscard]] models::TraceSession& session() const { return m_session; }
    // A command of this view; its shortcut, if it gets one, works while the focus is within.
    QAction* addCommand(const QString& text);
    // Makes a check box a command too: the two are checked and enabled together.
    QAction* addToggle(QCheckBox* box);
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    models::TraceSession& m_session;
    QList<QAction*> m_commands;
    QHash<QObject*, QAction*> m_toggles;
};

}  // namespace pleat::widgets
