#include "models/trace_session.h"

#include <system_error>
#include <utility>

#include "models/text.h"

namespace pleat::models {
namespace {

namespace fs = std::filesystem;

constexpr int kWatchMilliseconds = 1'000;
constexpr int kProgressMilliseconds = 100;

Answer<RunResults> resultsOf(const graph::RunIndex& index) {
    auto run = analysis::analyseRun(index, {});
    if (!run) return {nullptr, shownText(run.error().message)};
    return {std::make_shared<const RunResults>(
                RunResults{std::move(*run), {index.windows().begin(), index.windows().end()}}),
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
    m_followed = false;
    m_analysis.clear();
    m_trace.reset();
    m_index.reset();
    m_roles.reset();
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

TraceSession::Loaded TraceSession::indexed(opening::OpenedTrace opened) {
    struct Both {
        explicit Both(trace::Trace given) : trace(std::move(given)), index(trace) {}
        const trace::Trace trace;
        const graph::RunIndex index;
    };
    const auto both = std::make_shared<const Both>(std::move(opened.trace));
    return {{both, &both->trace},
            {both, &both->index},
            std::make_shared<const timeline::EventRoles>(both->trace.annotations()),
            opened.database,
            opened.finished};
}

void TraceSession::load() {
    m_seen = seenNow();
    m_progress = std::make_shared<std::atomic<double>>(-1);
    m_loading.start(
        [request = m_request, told = m_progress](const std::stop_token& stop) {
            auto opened = opening::openTrace(request, [&](std::uint64_t done, std::uint64_t total) {
                const double share = static_cast<double>(done) / static_cast<double>(total);
                told->store(total > 0 ? std::min(share, 1.0) : -1, std::memory_order_relaxed);
                return !stop.stop_requested();
            });
            return opened ? Opened(indexed(std::move(*opened))) : Opened(opened.error());
        },
        [this](Opened opened) { finishLoading(std::move(opened)); });
}

void TraceSession::finishLoading(Opened opened) {
    if (!opened) {
        const QString error = shownError(opened.error());
        // What was read before is worth more than the fact that it cannot be read again.
        if (m_state == State::Loaded)
            return setNotice(tr("%1; showing what was read before").arg(error));
        m_error = error;
        return setState(State::Failed);
    }
    m_trace = opened->trace;
    m_index = opened->index;
    m_roles = opened->roles;
    m_database = opened->database;
    m_finished = opened->finished;
    m_followed = m_followed || !m_finished;
    m_analysis.clear();
    setState(State::Loaded);
    setNotice(m_finished ? QString()
                         : tr("The recording is still running or was interrupted; this is what it "
                              "holds so far."));
    emit traceChanged();
    emit resultsChanged();
    analyse();
}

void TraceSession::analyse() {
    m_analysis.start([index = m_index](const std::stop_token&) { return resultsOf(*index); },
                     [this] {
                         if (!results()) setNotice(tr("No analysis: %1").arg(m_analysis.problem()));
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
    const std::vector<Seen> now = seenNow();
    if (now == m_seen) return;
    const std::vector<Seen> before = std::exchange(m_seen, now);  // said once
    for (std::size_t i = 0; i < now.size(); ++i) {
        const QString what =
            whatBecameOf(shownText(m_request.files[i].string()), before[i], now[i]);
        if (!what.isEmpty()) return setNotice(what);
    }
    if (m_followed) load();
}

QString TraceSession::whatBecameOf(const QString& file, const Seen& before, const Seen& now) const {
    if (!now.there)
        return before.there ? tr("%1 no longer exists; what was read from it is shown until you "
                                 "close the window.")
                                  .arg(file)
                            : QString();
    if (now.bytes < before.bytes)
        return tr("%1 was truncated: %2 of its %3 bytes remain. What was read before is still "
                  "shown; File > Reload tries to read the rest.")
            .arg(file)
            .arg(now.bytes)
            .arg(before.bytes);
    const bool same = now.bytes == before.bytes && now.changed == before.changed;
    if (same || m_followed) return {};
    return tr("%1 has changed since it was read. What was read before is still shown; File > "
              "Reload reads it again.")
        .arg(file);
}

std::vector<TraceSession::Seen> TraceSession::seenNow() const {
    std::vector<Seen> all;
    for (const fs::path& file : m_request.files) {
        const fs::path log = file.string() + "-wal";
        std::error_code failed;
        Seen seen;
        seen.there = fs::exists(file, failed);
        const auto bytesOf = [&failed](const fs::path& part) {
            const std::uintmax_t bytes = fs::file_size(part, failed);
            return failed ? 0 : bytes;  // a folder has none
        };
        const auto changeOf = [&failed](const fs::path& part) {
            const auto changed = fs::last_write_time(part, failed);
            return failed ? fs::file_time_type() : changed;
        };
        seen.bytes = bytesOf(file);
        seen.logBytes = bytesOf(log);
        seen.changed = changeOf(file);
        seen.logChanged = changeOf(log);
        all.push_back(seen);
    }
    return all;
}

}  // namespace pleat::models
