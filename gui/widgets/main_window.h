// The viewer's window: a page per view of the one session it shows, panels beside them, and the
// menus. It wires; what is shown is the pages' and the session's.
#pragma once

#include <QDockWidget>
#include <QMainWindow>
#include <QStackedWidget>
#include <QTabWidget>
#include <vector>

#include "models/iteration_model.h"
#include "models/trace_session.h"
#include "widgets/panels.h"
#include "widgets/session_view.h"

namespace pleat::widgets {

class ComparePage;

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(QWidget* parent = nullptr);

    [[nodiscard]] models::TraceSession& session() { return m_session; }
    [[nodiscard]] models::IterationModel& iteration() { return m_iteration; }
    void open(const QStringList& files);
    void open(opening::OpenRequest request);

    // Pages by their id: pipeline, timeline, answer, compare, sql, diagnostics.
    [[nodiscard]] QStringList pageIds() const;
    [[nodiscard]] SessionView* page(const QString& id) const;
    void showPage(const QString& id);
    [[nodiscard]] QString currentPage() const;
    // Shows the place in the pages that can. Where the current page cannot, or asked itself, the
    // first other one that can comes to the front.
    void goTo(const models::Place& place, const SessionView* asking = nullptr);
    // Every action of the menus.
    [[nodiscard]] QList<QAction*> commands() const;
    [[nodiscard]] QList<KeyHelp> keys() const;
    [[nodiscard]] ComparePage& compare() { return *m_compare; }
    [[nodiscard]] FactsPanel& facts() { return *m_facts; }
    [[nodiscard]] PathPanel& path() { return *m_path; }

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

  private:
    struct Page {
        QString id;
        SessionView* view;
    };
    void addPage(const QString& id, const QString& title, SessionView* view);
    QDockWidget* addPanel(const QString& id, const QString& title, QWidget* panel);
    void makePages();
    void makePanels();
    void makeMenus();
    void addCommandsOf(const Page& page, QMenu& menu);
    void makeFileMenu();
    void fillRecentMenu();
    void chooseFiles();
    void chooseFolder();
    void exportPicture();
    void showPalette();
    void showKeys();
    void showFactsOf(const models::Place& place);
    void updateState();
    void updateNotice();

    models::TraceSession m_session;
    models::IterationModel m_iteration;
    QStackedWidget* m_stack;
    QTabWidget* m_tabs;
    ComparePage* m_compare;
    FactsPanel* m_facts;
    PathPanel* m_path;
    QMenu* m_recent = nullptr;
    QList<QDockWidget*> m_panels;
    std::vector<Page> m_pages;
};

}  // namespace pleat::widgets
