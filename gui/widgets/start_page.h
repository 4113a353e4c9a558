// What stands in the window while there is no trace to show: how to get one, how far the loading
// is, or why it failed and what to do.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>

#include "models/trace_session.h"

namespace pleat::widgets {

class StartPage : public QWidget {
    Q_OBJECT

  public:
    StartPage(models::TraceSession& session, QWidget* parent = nullptr);

    [[nodiscard]] QString title() const { return m_title->text(); }
    [[nodiscard]] QString text() const { return m_text->text(); }

  signals:
    void openWanted();

  private:
    void update();
    void updateProgress();

    models::TraceSession& m_session;
    QLabel* m_title;
    QLabel* m_text;
    QProgressBar* m_progress;
    QPushButton* m_open;
    QPushButton* m_cancel;
};

}  // namespace pleat::widgets
