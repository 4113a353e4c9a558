// What the streams of one rank's device ran, and what its host waited for. Work that ends outside
// the window is left out: nothing in the window waits for its end. Pure; immutable once made.
//
// A stream runs its work in the order of the calls, so what was called before a moment is a prefix
// of the stream. Whole microseconds let work begin just before its call, or its predecessor's end,
// or end just after a call that waited for it: such ends are moved by at most kRounding
// (host_pieces.h); times that disagree more leave the dependency out ("times_disagree").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/interval_set.h"
#include "trace/trace.h"

namespace pleat::graph {

struct StreamWork {
    trace::EventId event;
    base::Interval span;
    trace::EventId call;        // that started it; invalid where unknown or contradicted
    base::TraceTime called;     // its begin; without a call the work's own
    base::TraceTime calledYet;  // the latest `called` up to here on the stream
    std::size_t lastYet = 0;    // which ends last, up to here on the stream
};

struct Stream {
    trace::LaneId lane;
    std::int64_t number = 0;
    std::vector<StreamWork> work;  // by start
};

struct WorkId {
    std::size_t stream = 0, position = 0;
    friend auto operator<=>(const WorkId&, const WorkId&) = default;
};

class DeviceStreams {
  public:
    DeviceStreams(const trace::Trace& trace, trace::RankId rank, base::Interval window);

    [[nodiscard]] const std::vector<Stream>& streams() const { return m_streams; }
    [[nodiscard]] const StreamWork& work(WorkId id) const {
        return m_streams[id.stream].work[id.position];
    }
    // For every host call that waited for work in the window: that work.
    [[nodiscard]] const std::unordered_map<trace::EventId, std::vector<WorkId>>& waits() const {
        return m_waits;
    }
    // Work that waited for work of another stream (cudaStreamWaitEvent): waited for, waiting.
    [[nodiscard]] const std::vector<std::pair<WorkId, WorkId>>& streamWaits() const {
        return m_streamWaits;
    }
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }

  private:
    // What the device recorded of a wait; stream numbers and correlation ids, -1 where unknown.
    struct Record {
        std::int64_t stream = -1, waitedStream = -1, recordCorrelation = -1;
    };

    void readWork();
    void tidy(Stream& stream);
    void readWaits();
    void readCall(trace::EventId id);
    void resolveWait(trace::EventId call, const Record& record);
    void resolveStreamWait(trace::EventId call, const Record& record);
    void waitFor(trace::EventId call, WorkId work);
    void resolveCopies();
    // Ends last among the stream's work that was called before `time`.
    [[nodiscard]] std::optional<WorkId> lastBefore(std::size_t stream, base::TraceTime time) const;
    // Ends last within the call, of all work that was called before it.
    [[nodiscard]] std::optional<WorkId> endedWithin(base::Interval call) const;
    [[nodiscard]] std::optional<base::TraceTime> recordedAt(const Record& record) const;
    void disagree(trace::EventId first, trace::EventId second, base::Duration by);

    const trace::Trace& m_trace;
    const trace::RankId m_rank;
    const base::Interval m_window;
    std::vector<Stream> m_streams;
    std::vector<trace::EventId> m_waitingCalls;
    std::unordered_map<std::int64_t, Record> m_records;               // by correlation id
    std::unordered_map<std::int64_t, trace::EventId> m_eventRecords;  // likewise
    std::unordered_map<trace::EventId, std::int64_t> m_correlations;  // of waiting calls
    std::unordered_map<trace::EventId, std::vector<WorkId>> m_waits;
    std::vector<std::pair<WorkId, WorkId>> m_streamWaits;
    base::Diagnostics m_diagnostics;
};

}  // namespace pleat::graph
