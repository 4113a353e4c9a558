#include "models/trace_session.h"

#include <system_error>
#include <utility>

#include "models/text.h"

namespace pleat::models {
namespace {

namespace fs = std::filesystem;

constexpr int kWatchMilliseconds = 1'000;
constexpr int kProgressMilliseconds = 100;

struct Analysed {
    std::shared_ptr<const RunResults> results;
    QString error;
};

Analysed resultsOf(const trace::Trace& trace) {
    auto run = analysis::analyseRun(trace, {});
    if (!run) return {nullptr, shownText(run.error().message)};
    return {std::make_shared<const RunResults>(
                RunResults{std::move(*run), graph::iterationWindows(trace)}),
            {}};
}

}  // namespace

TraceSession::TraceSession(QObject* parent) : QObject(parent) {
    m_watch.setInterval(kWatchMilliseconds);
    connect(&m_watch, &QTimer::timeout, this, &TraceSession::lookAtFiles);
    m_progressClock.setInterval(kProgressMilliseconds);
    connect(&m_progressClock, &QTimer::timeout, this, &TraceSession::progressChanged);
}

QString TraceSession::name() const { return shownText(m_request.name()); }

void TraceSession::open(opening::OpenRequest request) {
    m_request = std::move(request);
    m_analysing.stop();
    m_trace.reset();
    m_results.reset();
    m_error.clear();
    setNotice({});
    setState(State::Loading);
    emit traceChanged();
    emit resultsChanged();
    load();
}

void TraceSession::cancel() {
    if (m_state != State::Loading) return;
    m_loading.stop();
    setState(State::Empty);
}

void TraceSession::reload() {
    if (m_state == State::Failed) return open(m_request);
    if (m_state == State::Loaded && !m_loading.running()) load();
}

void TraceSession::load() {
    m_fingerprint = fingerprint();
    m_progress = std::make_shared<std::atomic<double>>(-1);
    m_loading.start(
        [request = m_request, told = m_progress](const std::stop_token& stop) {
            return opening::openTrace(request, [&](std::uint64_t done, std::uint64_t total) {
                const double share = static_cast<double>(done) / static_cast<double>(total);
                told->store(total > 0 ? std::min(share, 1.0) : -1, std::memory_order_relaxed);
                return !stop.stop_requested();
            });
        },
        [this](Opened opened) { finishLoading(std::move(opened)); });
}

void TraceSession::finishLoading(Opened opened) {
    if (!opened) {
        const QString error = shownText(opened.error().message, 4'000);
        // What was read before is worth more than the fact that it cannot be read again.
        if (m_state == State::Loaded) return setNotice(error);
        m_error = error;
        return setState(State::Failed);
    }
    m_trace = std::make_shared<const trace::Trace>(std::move(opened->trace));
    m_database = opened->database;
    m_finished = opened->finished;
    m_results.reset();
    setState(State::Loaded);
    setNotice(m_finished ? QString()
                         : tr("The recording is still running or was interrupted; this is what it "
                              "holds now."));
    emit traceChanged();
    emit resultsChanged();
    analyse();
}

void TraceSession::analyse() {
    m_analysing.start([trace = m_trace](const std::stop_token&) { return resultsOf(*trace); },
                      [this](Analysed answer) {
                          m_results = std::move(answer.results);
                          if (!m_results) setNotice(tr("No analysis: %1").arg(answer.error));
                          emit resultsChanged();
                      });
}

void TraceSession::setState(State state) {
    const bool loading = state == State::Loading;
    loading ? m_progressClock.start() : m_progressClock.stop();
    state == State::Loaded ? m_watch.start() : m_watch.stop();
    m_state = state;
    emit stateChanged();
}

void TraceSession::setNotice(const QString& notice) {
    if (notice == m_notice) return;
    m_notice = notice;
    emit noticeChanged();
}

void TraceSession::lookAtFiles() {
    if (m_loading.running()) return;
    const std::uint64_t now = fingerprint();
    if (now == m_fingerprint) return;
    std::error_code ignored;
    for (const fs::path& file : m_request.files) {
        if (fs::exists(file, ignored)) continue;
        m_fingerprint = now;  // said once
        return setNotice(tr("%1 is gone; what was read of it stays here until the window closes.")
                             .arg(shownText(file.string())));
    }
    if (!m_finished) load();
}

std::uint64_t TraceSession::fingerprint() const {
    std::uint64_t mixed = 0;
    const auto mix = [&mixed](std::uint64_t value) { mixed = mixed * 1'000'003 + value; };
    for (const fs::path& file : m_request.files) {
        for (const char* ending : {"", "-wal"}) {
            std::error_code failed;
            const fs::path part = file.string() + ending;
            const auto bytes = fs::file_size(part, failed);
            mix(failed ? 0 : bytes);
            const auto changed = fs::last_write_time(part, failed);
            mix(failed ? 0 : static_cast<std::uint64_t>(changed.time_since_epoch().count()));
        }
    }
    return mixed;
}

}  // namespace pleat::models
