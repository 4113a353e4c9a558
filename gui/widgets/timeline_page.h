// The timeline as a page of the window: the canvas with its scroll bar, minimap, colours, search
// and facts. It prepares the session's trace in the background and keeps bookmarks beside it.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <filesystem>

#include "models/background.h"
#include "models/iteration_model.h"
#include "widgets/colour_legend.h"
#include "widgets/iteration_box.h"
#include "widgets/session_view.h"
#include "widgets/timeline_canvas.h"
#include "widgets/timeline_minimap.h"

namespace pleat::widgets {

class TimelinePage : public SessionView {
    Q_OBJECT

  public:
    TimelinePage(models::TraceSession& session, models::IterationModel& iteration, QWidget* parent);

    void goTo(const models::Place& place) override;
    [[nodiscard]] bool shows(const models::Place& place) const override { return !place.empty(); }
    [[nodiscard]] QList<KeyHelp> keys() const override;
    [[nodiscard]] bool settled() const override {
        return !m_preparing.running() && !m_summarising.running() && !m_accounting.running() &&
               !m_canvas->refining();
    }
    [[nodiscard]] QWidget* picture() override;

    [[nodiscard]] TimelineCanvas& canvas() { return *m_canvas; }
    [[nodiscard]] const TimelineMinimap& minimap() const { return *m_minimap; }
    // The trace is there and can be seen.
    [[nodiscard]] bool ready() const { return m_canvas->data() != nullptr; }
    // As typed (timeline/event_search.h); the first hit is selected.
    void search(const QString& typed);
    [[nodiscard]] const QListWidget& hits() const { return *m_hits; }
    // What is said at the bottom.
    [[nodiscard]] QString said() const { return m_facts->text(); }
    [[nodiscard]] const ColourLegend& legend() const { return *m_legend; }
    // What the line and the paleness of events mean, while they are shown.
    [[nodiscard]] const ColourLegend& pathLegend() const { return *m_pathLegend; }

  signals:
    void eventSelected(pleat::trace::EventId event);
    void areaSelected(const pleat::base::Interval& time,
                      const std::vector<pleat::trace::LaneId>& lanes);

  private:
    void makeControls();
    void makeLayout();
    void connectControls();
    void connectCanvas();
    void makeCommands();
    // Shows as facts where the time of the lanes' ranks went.
    void accountFor(const base::Interval& time, const std::vector<trace::LaneId>& lanes);
    void loadTrace();
    void showData(const std::shared_ptr<const models::TimelineData>& made, bool keepPlace);
    void loadBookmarks();
    void saveBookmarks();
    void editNote(base::TraceTime bookmark);
    void updateView();
    void updateFacts();
    // The iteration's path, where it is one of the trace that is shown.
    void updatePath();
    void fillLegend();
    void fillPathLegend();

    models::IterationModel& m_iterationModel;
    TimelineCanvas* m_canvas;
    TimelineMinimap* m_minimap;
    QScrollBar* m_scroll;
    QComboBox* m_colours;
    IterationBox* m_iteration;
    QCheckBox* m_arrows;
    QCheckBox* m_path;
    QLineEdit* m_search;
    QListWidget* m_hits;
    ColourLegend* m_legend;
    ColourLegend* m_pathLegend;
    QLabel* m_facts;
    std::filesystem::path m_bookmarkFile;
    QString m_notice;        // said until something else happens
    models::Place m_wanted;  // asked for before the trace was ready
    timeline::WorkerPool m_pool;
    // Last: they end before what they use does.
    models::Background m_preparing, m_summarising, m_accounting;
};

}  // namespace pleat::widgets
