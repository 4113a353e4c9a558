#include "collector/drain.h"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/say.h"

namespace pleat::collector {
namespace {

constexpr std::chrono::milliseconds kPoll{5};
constexpr std::chrono::milliseconds kFirstBaseline{10};
constexpr std::chrono::seconds kAnchorInterval{1};

}  // namespace

Drain::Drain(store::Writer& writer, const TickClock& clock, DrainOptions options)
    : m_writer(writer), m_clock(clock), m_options(std::move(options)) {}

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

void Drain::stop(const WaitStatuses& statuses) {
    m_drainThread.request_stop();
    m_drainThread.join();
    // The drain thread is gone: the rest is done here, in the order rings, open ranges, rows.
    addAnchor();
    openNewRings();
    while (drainOnce()) {
    }
    finishProcesses(statuses);
    m_insertThread.request_stop();
    m_insertThread.join();
    writeLastFacts();
}

void Drain::writeLastFacts() {
    const std::scoped_lock lock(m_writerMutex);
    for (auto& [key, process] : m_processes) {
        if (!process->rankId().valid()) continue;
        report(m_writer.updateRank(process->rankId(), process->rank()));
        for (const auto& [lane, name] : process->namedLanes())
            report(m_writer.renameLane(lane, name));
    }
    for (const store::ClockSampleRow& sample : m_samples) report(m_writer.addClockSample(sample));
    if (m_beyondLimit > 0) {
        m_diagnostics.add(base::Severity::DataLoss, "outside_recording",
                          "skipped events beyond the maximum size", m_beyondLimit);
    }
    const base::Result<void> done = m_writer.commit();
    report(done);
    if (done) m_committedEvents = m_events;
}

void Drain::report(const base::Result<void>& done) {
    if (done || m_writeFailed) return;
    m_writeFailed = true;
    m_diagnostics.add(base::Severity::DataLoss, "write_failed", done.error().message);
    base::say(fmt::format("pleat: recording stopped: {}", done.error().message));
}

void Drain::drainLoop(const std::stop_token& stop) {
    auto nextAnchor = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (!stop.stop_requested()) {
        if (std::chrono::steady_clock::now() >= nextAnchor) {
            addAnchor();
            releaseGoneProcesses();
            nextAnchor = std::chrono::steady_clock::now() + kAnchorInterval;
        }
        drainOnce();
        std::this_thread::sleep_for(kPoll);
    }
}

RecordedProcess& Drain::processOf(ProcessKey key) {
    std::unique_ptr<RecordedProcess>& process = m_processes[key];
    if (process) return *process;
    RecordedProcess::Sink sink;
    sink.addRank = [this](const trace::Rank& rank) {
        const std::scoped_lock lock(m_writerMutex);
        const auto added = m_writer.addRank(rank);
        return added ? *added : trace::RankId(0);
    };
    sink.addLane = [this](const trace::Lane& lane) {
        const std::scoped_lock lock(m_writerMutex);
        const auto added = m_writer.addLane(lane);
        return added ? *added : trace::LaneId(0);
    };
    sink.addEvent = [this](MatchedEvent event) {
        const std::scoped_lock lock(m_queueMutex);
        m_queue.push_back(std::move(event));
    };
    sink.recording = [this](base::TraceTime time) {
        return time >= m_options.firstMoment &&
               (!m_options.lastMoment || time <= *m_options.lastMoment) &&
               !m_full.load(std::memory_order_relaxed);
    };
    process = std::make_unique<RecordedProcess>(key.first, m_texts, m_clock, std::move(sink));
    return *process;
}

void Drain::openNewRings() {
    std::error_code ignored;
    std::vector<std::filesystem::path> fresh;
    for (const auto& entry : std::filesystem::directory_iterator(m_options.ringFolder, ignored)) {
        if (entry.path().extension() == ".ring" && !m_unreadable.contains(entry.path().filename()))
            fresh.push_back(entry.path());
        if (entry.path().extension() == ".failed") failedRing(entry.path());
    }
    // "<pid>-<image>-<thread>.ring": a fixed order keeps the numbering of lanes the same from run
    // to run.
    std::sort(fresh.begin(), fresh.end());
    for (const std::filesystem::path& file : fresh) {
        base::Result<MappedRing> memory = MappedRing::open(file);
        const auto failed = [&](const base::Error& error) {
            m_unreadable.insert(file.filename());
            const std::scoped_lock lock(m_writerMutex);
            m_diagnostics.add(base::Severity::DataLoss, "unreadable_ring", error.message);
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
    const std::scoped_lock lock(m_writerMutex);
    m_diagnostics.add(base::Severity::DataLoss,
                      thread == 0 ? "process_not_recorded" : "thread_not_recorded",
                      fmt::format("process {}{}: cannot create shared memory for its events: {}",
                                  pid, thread == 0 ? "" : fmt::format(", thread {}", thread), why));
}

bool Drain::drainOnce() {
    // In this order: whatever names an observed event is in a ring that is opened after it.
    for (auto& [key, process] : m_processes) process->observe();
    openNewRings();
    bool any = false;
    for (auto& [key, process] : m_processes) any = process->drain() || any;
    if (any) m_queueFilled.notify_one();
    return any;
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
        process->finish(endOf(key, statuses));
        const std::scoped_lock lock(m_writerMutex);  // the insert thread still runs
        m_diagnostics.add(process->diagnostics());
    }
}

void Drain::insertLoop(const std::stop_token& stop) {
    auto nextCommit = std::chrono::steady_clock::now() + m_options.flushInterval;
    for (bool last = false; !last;) {
        last = stop.stop_requested();  // before taking the queue: what was queued before the
                                       // request is still inserted
        std::vector<MatchedEvent> events;
        {
            std::unique_lock lock(m_queueMutex);
            m_queueFilled.wait_for(lock, stop, std::chrono::milliseconds(20),
                                   [&] { return !m_queue.empty(); });
            events.swap(m_queue);
        }
        insert(std::move(events));
        if (!last && std::chrono::steady_clock::now() < nextCommit) continue;
        nextCommit = std::chrono::steady_clock::now() + m_options.flushInterval;
        commit();
    }
}

void Drain::commit() {
    {
        const std::scoped_lock lock(m_writerMutex);
        const base::Result<void> done = m_writer.commit();
        report(done);
        if (done) m_committedEvents = m_events;
    }
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

void Drain::insert(std::vector<MatchedEvent> events) {
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
        {
            const std::scoped_lock lock(m_writerMutex);
            if (m_writeFailed) return;
            report(m_writer.addEvents(rows));
            m_events += static_cast<std::int64_t>(rows.size());
        }
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
