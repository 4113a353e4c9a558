// Writes a *.pleat file (schemas/trace.sql): rows in batches while a run is being recorded, or a
// whole trace at once. WAL mode, so any SQLite client can read meanwhile. Not thread-safe: one
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::store {

// An event as it is being recorded. Times are trace time.
struct EventRow {
    trace::LaneId lane;
    std::string_view name;
    std::string_view domain;  // empty: the default domain
    trace::EventKind kind = trace::EventKind::Range;
    trace::EventFlag flag = trace::EventFlag::None;
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    std::string_view arguments;  // flat JSON object or empty
};

// A moment seen on two clocks: how trace time relates to the host's clocks.
struct ClockSampleRow {
    trace::RankId rank;  // invalid: the recorder itself
    std::int64_t traceNs = 0;
    std::int64_t monotonicNs = 0;
    std::int64_t unixNs = 0;
};

class Writer {
  public:
    // Fails with Io when the file exists or cannot be made: a recording never overwrites another.
    [[nodiscard]] static base::Result<Writer> create(const std::filesystem::path& file);
    Writer(Writer&&) noexcept;
    Writer& operator=(Writer&&) noexcept;
    ~Writer();

    // Every call belongs to the open transaction; commit() ends it and begins the next.
    [[nodiscard]] base::Result<void> setMeta(std::string_view key, std::string_view value);
    [[nodiscard]] base::Result<trace::RankId> addRank(const trace::Rank& rank);
    [[nodiscard]] base::Result<void> updateRank(trace::RankId id, const trace::Rank& rank);
    [[nodiscard]] base::Result<trace::LaneId> addLane(const trace::Lane& lane);
    [[nodiscard]] base::Result<void> renameLane(trace::LaneId id, std::string_view name);
    [[nodiscard]] base::Result<void> addEvents(std::span<const EventRow> rows);
    [[nodiscard]] base::Result<void> addClockSample(const ClockSampleRow& row);
    // Adds to the counts already stored.
    [[nodiscard]] base::Result<void> addDiagnostics(const base::Diagnostics& diagnostics);
    [[nodiscard]] base::Result<void> commit();
    // Commits, adds the indexes and folds the WAL into the file. The writer is spent.
    [[nodiscard]] base::Result<void> finish() &&;

  private:
    struct State;
    explicit Writer(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

// UTC in nanoseconds at the trace's time 0; nothing where the clock of a rank is not related to it.
[[nodiscard]] std::optional<std::int64_t> originUnixNs(const trace::Trace& trace);

// A whole trace, annotations included, into a new file.
[[nodiscard]] base::Result<void> writeTrace(const trace::Trace& trace,
                                            const std::filesystem::path& file);

// Replaces the annotations of a recorded file (task, phase, transfer, process_group, iteration,
// schedule, coordinates of ranks) by those of `annotated`, which must have been loaded from that
// file. One transaction.
[[nodiscard]] base::Result<void> writeAnnotations(const trace::Trace& annotated,
                                                  const std::filesystem::path& file);

}  // namespace pleat::store
