// The viewer's window: a page per view of the one session it shows, and the menus. It wires; what
// is shown is the pages' and the session's.
#pragma once

#include <QMainWindow>
#include <QStackedWidget>
#include <QTabWidget>
#include <vector>

#include "models/trace_session.h"
#include "widgets/session_view.h"

namespace pleat::widgets {

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(QWidget* parent = nullptr);

    [[nodiscard]] models::TraceSession& session() { return m_session; }
    void open(const QStringList& files);

    // Pages by their id: diagnostics.
    [[nodiscard]] QStringList pageIds() const;
    [[nodiscard]] SessionView* page(const QString& id) const;
    void showPage(const QString& id);
    [[nodiscard]] QString currentPage() const;
    // Shows the place in the pages that can, and brings the first of them to the front.
    void goTo(const models::Place& place);

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void addPage(const QString& id, const QString& title, SessionView* view);
    void makePages();
    void makeMenus();
    void chooseFiles();
    void updateState();
    void updateNotice();

    models::TraceSession m_session;
    QStackedWidget* m_stack;
    QTabWidget* m_tabs;
    struct Page {
        QString id;
        SessionView* view;
    };
    std::vector<Page> m_pages;
};

}  // namespace pleat::widgets
