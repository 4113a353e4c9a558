// The recorder's two threads: one empties the rings every few milliseconds and never waits for the
// database, one inserts rows and commits them. Between them is a bounded queue (insert_queue.h),
// and nothing else is shared while both run. Whatever goes wrong in one of them, exceptions too,
// costs events, is counted, and reaches neither the other nor the recorded command.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "collector/clock.h"
#include "collector/insert_queue.h"
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
    // Throws where a thread cannot be made.
    void start();
    // Empties the rings to their end, inserts everything, describes how each process ended.
    void stop(const WaitStatuses& statuses) noexcept;

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
    void drainAll();
    void insert(InsertBatch batch);
    void insertEvents(const std::vector<MatchedEvent>& events);
    void commit();
    void checkSize();
    void addAnchor();
    void releaseGoneProcesses();
    void finishProcesses(const WaitStatuses& statuses);
    void writeLastFacts();
    void reportLosses();
    void report(const base::Result<void>& done) noexcept;
    // Does the work; an exception in it is counted.
    template <class Work>
    bool survive(Work&& work) noexcept;
    // A process is a program image: an exec keeps the pid, and is another one.
    using ProcessKey = std::pair<std::int64_t, std::uint64_t>;  // pid, RingHeader::image
    [[nodiscard]] RecordedProcess& processOf(ProcessKey key);
    [[nodiscard]] trace::ProcessEnd endOf(ProcessKey key, const WaitStatuses& statuses) const;

    // Of the thread that drains; after it has ended, of the caller of stop().
    TickClock m_clock;
    const DrainOptions m_options;
    base::StringPool
        m_texts;  // grows in the drain thread; texts keep their address, so rows may point into it
    std::map<ProcessKey, std::unique_ptr<RecordedProcess>> m_processes;
    std::set<std::string> m_unreadable;  // ring files that stay where they are
    std::vector<store::ClockSampleRow> m_samples;
    base::Diagnostics m_diagnostics;
    std::int64_t m_failures = 0;  // exceptions
    base::Error m_firstFailure;

    InsertQueue m_queue;
    std::atomic<bool> m_full{false};  // maximumBytes reached; relaxed: a little more does no harm

    // Of the thread that inserts; after it has ended, of the caller of stop().
    store::Writer& m_writer;
    std::optional<base::Error> m_writeError;           // nothing is inserted any more
    std::int64_t m_unwritten = 0;                      // events behind that error
    std::int64_t m_events = 0, m_committedEvents = 0;  // inserted; of them in the file
    std::int64_t m_beyondLimit = 0;                    // not inserted: maximumBytes reached

    std::jthread m_drainThread, m_insertThread;  // last: they end before what they use does
};

}  // namespace pleat::collector
