#include "collector/drain.h"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/exceptions.h"
#include "base/say.h"
#include "collector/folder.h"

namespace pleat::collector {
namespace {

constexpr std::chrono::milliseconds kPoll{5};
constexpr std::chrono::milliseconds kFirstBaseline{10};
constexpr std::chrono::seconds kAnchorInterval{1};

}  // namespace

Drain::Drain(store::Writer& writer, const TickClock& clock, DrainOptions options)
    : m_clock(clock), m_options(std::move(options)), m_writer(writer) {}

Drain::~Drain() = default;

void Drain::addAnchor() {
    const ClockAnchor anchor = takeAnchor(m_clock.source());
    m_clock.add(anchor);
    m_samples.push_back(
        {{}, anchor.monotonicNs - m_clock.origin().monotonicNs, anchor.monotonicNs, anchor.unixNs});
}

void Drain::start() {
    const ClockAnchor& origin = m_clock.origin();
    m_samples.push_back({{}, 0, origin.monotonicNs, origin.unixNs});
    // A second anchor before the command runs: without one the counter's rate would be a guess.
    std::this_thread::sleep_for(kFirstBaseline);
    addAnchor();
    m_insertThread = std::jthread([this](const std::stop_token& stop) { insertLoop(stop); });
    m_drainThread = std::jthread([this](const std::stop_token& stop) { drainLoop(stop); });
}

void Drain::stop(const WaitStatuses& statuses) noexcept {
    m_drainThread = {};  // asks it to stop, and waits
    // The drain thread is gone: the rest is done here, in the order rings, open ranges, rows.
    survive([&] { addAnchor(); });
    constexpr int kAttempts = 3;  // what one exception kept from being read may be read after it
    for (int attempt = 0; attempt < kAttempts && !survive([&] { drainAll(); });) ++attempt;
    survive([&] { finishProcesses(statuses); });
    m_insertThread = {};
    survive([&] { writeLastFacts(); });
    survive([&] { reportLosses(); });
}

void Drain::writeLastFacts() {
    for (auto& [key, process] : m_processes) {
        if (!process->rankId().valid()) continue;
        report(m_writer.updateRank(process->rankId(), process->rank()));
        for (const auto& [lane, name] : process->namedLanes())
            report(m_writer.renameLane(lane, name));
    }
    for (const store::ClockSampleRow& sample : m_samples) report(m_writer.addClockSample(sample));
    commit();
}

void Drain::reportLosses() {
    if (m_writeError) {
        const std::int64_t lost = m_unwritten + m_events - m_committedEvents;
        m_diagnostics.add("write_failed", m_writeError->message, std::max<std::int64_t>(lost, 1));
    }
    if (m_failures > 0) m_diagnostics.add("recorder_failed", m_firstFailure.message, m_failures);
    if (m_queue.dropped() > 0) {
        m_diagnostics.add("dropped_by_recorder",
                          fmt::format("the file was written too slowly for all events; the first "
                                      "one dropped is {}",
                                      m_queue.firstDropped()),
                          m_queue.dropped());
    }
    if (m_beyondLimit > 0) {
        m_diagnostics.add("outside_recording", "skipped events beyond the maximum size",
                          m_beyondLimit);
    }
}

template <class Work>
bool Drain::survive(Work&& work) noexcept {
    const base::Result<void> done = base::contained(std::forward<Work>(work));
    if (!done && ++m_failures == 1) m_firstFailure = done.error();
    return done.ok();
}

void Drain::report(const base::Result<void>& done) noexcept {
    if (done || m_writeError) return;
    m_writeError = done.error();
    (void)base::contained(
        [&] { base::say(fmt::format("pleat: recording stopped: {}", m_writeError->message)); });
}

void Drain::drainLoop(const std::stop_token& stop) {
    auto nextAnchor = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (!stop.stop_requested()) {
        if (std::chrono::steady_clock::now() >= nextAnchor) {
            survive([&] { addAnchor(); });
            survive([&] { releaseGoneProcesses(); });
            nextAnchor = std::chrono::steady_clock::now() + kAnchorInterval;
        }
        survive([&] { drainOnce(); });
        std::this_thread::sleep_for(kPoll);
    }
}

RecordedProcess& Drain::processOf(ProcessKey key) {
    if (const auto known = m_processes.find(key); known != m_processes.end()) return *known->second;
    RecordedProcess::Sink sink;
    sink.addRank = [this](const trace::Rank& rank) { return m_queue.addRank(rank); };
    sink.addLane = [this](const trace::Lane& lane) { return m_queue.addLane(lane); };
    sink.addEvent = [this](MatchedEvent event) { m_queue.addEvent(std::move(event)); };
    sink.recording = [this](base::TraceTime time) {
        return time >= m_options.firstMoment &&
               (!m_options.lastMoment || time <= *m_options.lastMoment) &&
               !m_full.load(std::memory_order_relaxed);
    };
    // Made before it is entered: without memory there is no entry, rather than one of nothing.
    auto process = std::make_unique<RecordedProcess>(key.first, m_texts, m_clock, std::move(sink));
    return *m_processes.emplace(key, std::move(process)).first->second;
}

void Drain::openNewRings() {
    std::error_code ignored;
    // "<pid>-<image>-<thread>.ring": a fixed order keeps the numbering of lanes the same from run
    // to run.
    for (const std::string& name : namesIn(m_options.ringFolder)) {
        const std::filesystem::path file = m_options.ringFolder / name;
        if (file.extension() == ".failed") failedRing(file);
        if (file.extension() != ".ring" || m_unreadable.contains(name)) continue;
        base::Result<MappedRing> memory = MappedRing::open(file);
        const auto failed = [&](const base::Error& error) {
            m_unreadable.insert(name);
            m_diagnostics.add("unreadable_ring", error.message);
        };
        if (!memory) {
            failed(memory.error());
            continue;
        }
        base::Result<RingReader> reader = RingReader::open(memory->bytes());
        if (!reader) {
            failed(reader.error().within(file.string()));
            continue;
        }
        const ProcessKey key{reader->header().pid, reader->header().image};
        processOf(key).addRing(std::move(*memory), std::move(*reader));
        // The mapping keeps the memory; the name is not needed any more.
        std::filesystem::remove(file, ignored);
    }
}

// "<pid>-<thread>-<errno>.failed", where thread 0 is the process itself.
void Drain::failedRing(const std::filesystem::path& mark) {
    long long pid = 0;
    unsigned thread = 0;
    int error = 0;
    std::sscanf(mark.filename().c_str(), "%lld-%u-%d", &pid, &thread, &error);
    std::error_code ignored;
    std::filesystem::remove(mark, ignored);
    const std::string why = error == EFBIG    ? "its file size limit (ulimit -f) is too small"
                            : error == ENOSPC ? "/dev/shm is full"
                                              : std::string(std::strerror(error));
    m_diagnostics.add(thread == 0 ? base::DiagnosticCode("process_not_recorded")
                                  : base::DiagnosticCode("thread_not_recorded"),
                      fmt::format("process {}{}: cannot create shared memory for its events: {}",
                                  pid, thread == 0 ? "" : fmt::format(", thread {}", thread), why));
}

bool Drain::drainOnce() {
    // In this order: whatever names an observed event is in a ring that is opened after it.
    for (auto& [key, process] : m_processes) process->observe();
    openNewRings();
    bool any = false;
    for (auto& [key, process] : m_processes) any = process->drain() || any;
    if (any) m_queue.announce();
    return any;
}

void Drain::drainAll() {
    openNewRings();
    while (drainOnce()) {
    }
}

void Drain::releaseGoneProcesses() {
    std::vector<RecordedProcess*> gone;
    for (auto& [key, process] : m_processes) {
        if (!process->released() && !process->alive()) gone.push_back(process.get());
    }
    if (gone.empty()) return;
    // What they wrote last. All their rings are there by now, so that none is opened only after the
    // others were observed.
    openNewRings();
    drainOnce();
    for (RecordedProcess* process : gone) process->release();
}

trace::ProcessEnd Drain::endOf(ProcessKey key, const WaitStatuses& statuses) const {
    const auto next = m_processes.upper_bound(key);
    if (next != m_processes.end() && next->first.first == key.first)
        return trace::ProcessEnd::Exited;  // by exec
    const std::optional<int> waited = statuses.of(static_cast<pid_t>(key.first));
    if (!waited) return trace::ProcessEnd::Unknown;
    return WIFSIGNALED(*waited) ? trace::ProcessEnd::Killed : trace::ProcessEnd::Exited;
}

void Drain::finishProcesses(const WaitStatuses& statuses) {
    // A helper that a rank forked has that rank's environment, and is not that rank.
    std::map<std::int64_t, std::int32_t> numberOf;  // by pid
    // Where processes have numbers of their own, those of a launcher count nodes (torchrun started
    // by srun), and belong to the processes in between.
    const bool haveOwn = std::any_of(m_processes.begin(), m_processes.end(), [](const auto& entry) {
        return entry.second->rank().number >= 0 && !entry.second->hasRankOfLauncher();
    });
    for (const auto& [key, process] : m_processes) {
        if (haveOwn && process->hasRankOfLauncher()) process->demote();
        numberOf[key.first] = process->rank().number;
    }
    for (auto& [key, process] : m_processes) {
        const auto parent = numberOf.find(process->parentPid());
        if (parent != numberOf.end() && parent->second == process->rank().number) process->demote();
        survive([&] { process->finish(endOf(key, statuses)); });
        m_diagnostics.add(process->diagnostics());
    }
}

void Drain::insertLoop(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPatience{20};
    auto nextCommit = std::chrono::steady_clock::now() + m_options.flushInterval;
    for (bool last = false; !last;) {
        last = stop.stop_requested();  // before taking the queue: what was queued before the
                                       // request is still inserted
        InsertBatch batch = m_queue.take(stop, kPatience);
        const auto count = static_cast<std::int64_t>(batch.events.size());
        const std::int64_t settled = m_events + m_beyondLimit;
        if (!m_writeError) report(base::contained([&] { insert(std::move(batch)); }));
        if (m_writeError) m_unwritten += count - (m_events + m_beyondLimit - settled);
        if (!last && std::chrono::steady_clock::now() < nextCommit) continue;
        nextCommit = std::chrono::steady_clock::now() + m_options.flushInterval;
        report(base::contained([&] { commit(); }));
    }
}

void Drain::commit() {
    const base::Result<void> done = m_writer.commit();
    report(done);
    if (done) m_committedEvents = m_events;
    checkSize();
}

void Drain::checkSize() {
    if (!m_options.maximumBytes || m_full.load(std::memory_order_relaxed)) return;
    std::error_code ignored;
    std::uintmax_t size = 0;
    for (const char* suffix : {"", "-wal"}) {
        const auto part = std::filesystem::file_size(m_options.output.string() + suffix, ignored);
        if (!ignored) size += part;
    }
    m_full.store(size >= static_cast<std::uintmax_t>(*m_options.maximumBytes),
                 std::memory_order_relaxed);
}

void Drain::insert(InsertBatch batch) {
    // Their ids are those that the queue gave them, because both count in this order.
    for (const trace::Rank& rank : batch.ranks) {
        if (const auto added = m_writer.addRank(rank); !added) return report(added.error());
    }
    for (const trace::Lane& lane : batch.lanes) {
        if (const auto added = m_writer.addLane(lane); !added) return report(added.error());
    }
    insertEvents(batch.events);
}

void Drain::insertEvents(const std::vector<MatchedEvent>& events) {
    // Where the file may not grow beyond a size, its size is looked at often enough.
    constexpr std::size_t kRowsBetweenLooks = 1'024;
    const std::size_t most = m_options.maximumBytes ? kRowsBetweenLooks : events.size();
    for (std::size_t first = 0; first < events.size(); first += most) {
        const std::size_t last = std::min(first + most, events.size());
        if (m_full.load(std::memory_order_relaxed)) {
            m_beyondLimit += static_cast<std::int64_t>(events.size() - first);
            return;
        }
        std::vector<store::EventRow> rows;
        rows.reserve(last - first);
        for (std::size_t i = first; i < last; ++i) {
            const MatchedEvent& event = events[i];
            rows.push_back({event.lane, event.name, event.domain, event.kind, event.flag,
                            event.start.ns, event.end.ns, event.arguments});
        }
        if (const auto added = m_writer.addEvents(rows); !added) return report(added);
        m_events += static_cast<std::int64_t>(rows.size());
        if (m_options.maximumBytes) commit();
    }
}

std::set<std::string> Drain::domains() const {
    std::set<std::string> names;
    for (const auto& [key, process] : m_processes) {
        for (const std::string_view name : process->domains()) names.emplace(name);
    }
    return names;
}

}  // namespace pleat::collector
