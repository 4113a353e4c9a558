// The one trace a window shows: opened in the background with progress and cancel, then analysed in
// the background, then watched: a recording that goes on is read again when it has grown; a file
// that is gone, was cut off or changed otherwise is said. What is handed out is immutable and
// shared. One thread, the window's.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/run_analysis.h"
#include "base/result.h"
#include "graph/run_index.h"
#include "models/background_answer.h"
#include "opening/open_trace.h"
#include "timeline/event_roles.h"
#include "trace/trace.h"

namespace pleat::models {

// What is known of a run beyond its events.
struct RunResults {
    analysis::RunAnalysis run;
    std::vector<graph::IterationWindow> windows;
};

class TraceSession : public QObject {
    Q_OBJECT

  public:
    enum class State : std::uint8_t { Empty, Loading, Loaded, Failed };

    explicit TraceSession(QObject* parent = nullptr);

    // Replaces what is shown once it is read; until then, and where it fails, the trace before it
    // is gone from the session too.
    void open(opening::OpenRequest request);
    // Back to Empty.
    void cancel();
    // Reads the same files again; the trace stays until the new one is there, and where that fails.
    void reload();

    [[nodiscard]] State state() const { return m_state; }
    // What is loading, shown or has failed; for words.
    [[nodiscard]] QString name() const;
    [[nodiscard]] const opening::OpenRequest& request() const { return m_request; }
    // Of loading, 0 to 1; negative: nobody knows.
    [[nodiscard]] double progress() const { return *m_progress; }
    // Why it failed, in one line.
    [[nodiscard]] const QString& error() const { return m_error; }
    // What has to be known about the trace shown: its recording goes on, its file is gone or no
    // longer what was read, its analysis failed. Empty: nothing.
    [[nodiscard]] const QString& notice() const { return m_notice; }
    // Null unless Loaded.
    [[nodiscard]] std::shared_ptr<const trace::Trace> trace() const { return m_trace; }
    // What analyses ask of it, found out once (graph/run_index.h); keeps the trace alive. Null
    // unless Loaded.
    [[nodiscard]] std::shared_ptr<const graph::RunIndex> index() const { return m_index; }
    // What its events are. Null unless Loaded.
    [[nodiscard]] std::shared_ptr<const timeline::EventRoles> roles() const { return m_roles; }
    // Null until the analysis is done.
    [[nodiscard]] std::shared_ptr<const RunResults> results() const { return m_analysis.results(); }
    // Is there nothing more to come of this trace?
    [[nodiscard]] bool analysed() const { return m_trace != nullptr && !m_analysis.working(); }
    // The *.pleat file of the trace; empty where it was imported.
    [[nodiscard]] const std::filesystem::path& database() const { return m_database; }
    [[nodiscard]] bool recordingGoesOn() const { return m_state == State::Loaded && !m_finished; }

    // How often files are looked at; for tests.
    void setWatchInterval(int milliseconds) { m_watch.setInterval(milliseconds); }

  signals:
    void stateChanged();
    void progressChanged();
    void traceChanged();
    void resultsChanged();
    void noticeChanged();

  private:
    struct Loaded {
        std::shared_ptr<const trace::Trace> trace;
        std::shared_ptr<const graph::RunIndex> index;
        std::shared_ptr<const timeline::EventRoles> roles;
        std::filesystem::path database;
        bool finished = true;
    };
    using Opened = base::Result<Loaded>;
    // What is seen of a file from outside; of a recording's log too.
    struct Seen {
        bool there = false;
        std::uintmax_t bytes = 0, logBytes = 0;
        std::filesystem::file_time_type changed{}, logChanged{};
        friend bool operator==(const Seen&, const Seen&) = default;
    };

    [[nodiscard]] static Loaded indexed(opening::OpenedTrace opened);
    void load();
    void finishLoading(Opened opened);
    void analyse();
    void setState(State state);
    void setNotice(const QString& notice);
    void lookAtFiles();
    [[nodiscard]] std::vector<Seen> seenNow() const;
    // What became of a file since it was read; empty: nothing that a person has to know.
    [[nodiscard]] QString whatBecameOf(const QString& file, const Seen& before,
                                       const Seen& now) const;

    State m_state = State::Empty;
    opening::OpenRequest m_request;
    QString m_error, m_notice;
    std::shared_ptr<const trace::Trace> m_trace;
    std::shared_ptr<const graph::RunIndex> m_index;
    std::shared_ptr<const timeline::EventRoles> m_roles;
    std::filesystem::path m_database;
    bool m_finished = true;
    bool m_followed = false;   // it was seen unfinished: what comes is read, to its annotation
    std::vector<Seen> m_seen;  // of each file, when it was read or spoken of last
    QTimer m_watch, m_progressClock;
    // Written by the loading thread, read here: one number, so relaxed order suffices.
    std::shared_ptr<std::atomic<double>> m_progress = std::make_shared<std::atomic<double>>(-1);
    Background m_loading;
    BackgroundAnswer<RunResults> m_analysis;
};

}  // namespace pleat::models
