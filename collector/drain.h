// The recorder's two threads: one empties the rings every few milliseconds and never waits for the
// database, one inserts rows and commits them. Between them a queue, guarded by one mutex; the
// writer has a mutex of its own, because the first event of a thread adds its lane. Lock order:
// never both.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "collector/clock.h"
#include "collector/recorded_command.h"
#include "collector/recorded_process.h"
#include "store/writer.h"

namespace pleat::collector {

struct DrainOptions {
    std::filesystem::path ringFolder;
    std::filesystem::path output;
    base::TraceTime firstMoment;                // events that begin earlier are left out
    std::optional<base::TraceTime> lastMoment;  // and those that begin later
    std::optional<std::int64_t> maximumBytes;   // of the output file
    std::chrono::milliseconds flushInterval{100};
};

class Drain {
  public:
    // The writer outlives the drain and is used by nobody else until stop() returned.
    Drain(store::Writer& writer, const TickClock& clock, DrainOptions options);
    ~Drain();
    void start();
    // Empties the rings to their end, inserts everything, describes how each process ended.
    void stop(const WaitStatuses& statuses);

    // Events that are in the file.
    [[nodiscard]] std::int64_t events() const { return m_committedEvents; }
    // NVTX domains the recorded programs made, also those that were not to be recorded.
    [[nodiscard]] std::set<std::string> domains() const;
    [[nodiscard]] std::int64_t processes() const {
        return static_cast<std::int64_t>(m_processes.size());
    }
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }

  private:
    void drainLoop(const std::stop_token& stop);
    void insertLoop(const std::stop_token& stop);
    void openNewRings();
    void failedRing(const std::filesystem::path& mark);
    bool drainOnce();
    void insert(std::vector<MatchedEvent> events);
    void commit();
    void checkSize();
    void addAnchor();
    void releaseGoneProcesses();
    void finishProcesses(const WaitStatuses& statuses);
    void writeLastFacts();
    void report(const base::Result<void>& done);
    // A process is a program image: an exec keeps the pid, and is another one.
    using ProcessKey = std::pair<std::int64_t, std::uint64_t>;  // pid, RingHeader::image
    [[nodiscard]] RecordedProcess& processOf(ProcessKey key);
    [[nodiscard]] trace::ProcessEnd endOf(ProcessKey key, const WaitStatuses& statuses) const;

    store::Writer& m_writer;
    std::mutex m_writerMutex;  // guards m_writer, m_writeFailed and m_diagnostics while running
    bool m_writeFailed = false;
    TickClock m_clock;
    const DrainOptions m_options;
    base::StringPool
        m_texts;  // grows in the drain thread; texts keep their address, so rows may point into it
    std::map<ProcessKey, std::unique_ptr<RecordedProcess>> m_processes;
    std::set<std::string> m_unreadable;  // ring files that stay where they are
    std::vector<store::ClockSampleRow> m_samples;

    std::mutex m_queueMutex;  // guards m_queue
    std::condition_variable_any m_queueFilled;
    std::vector<MatchedEvent> m_queue;

    std::atomic<bool> m_full{false};  // maximumBytes reached; relaxed: a little more does no harm
    std::int64_t m_events = 0, m_committedEvents = 0;  // inserted; of them in the file
    std::int64_t m_beyondLimit = 0;                    // not inserted: maximumBytes reached
    base::Diagnostics m_diagnostics;
    std::jthread m_drainThread, m_insertThread;
};

}  // namespace pleat::collector
