// The words of a trace: ranks, lanes, events and what the analyzer reads from them (tasks, phases,
// transfers, matches, iterations, process groups). Plain structs with typed ids; Trace (trace.h)
// holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/interval_set.h"
#include "base/string_pool.h"
#include "base/time.h"
#include "schedule/action.h"

namespace pleat::trace {

using RankId = base::Id<struct RankTag>;
using LaneId = base::Id<struct LaneTag>;
using EventId = base::Id<struct EventTag>;
using TaskId = base::Id<struct TaskTag>;
using TransferId = base::Id<struct TransferTag>;
using MatchId = base::Id<struct MatchTag>;
using GroupId = base::Id<struct GroupTag>;

// Positions in the parallel layout; -1 where unknown.
struct Coordinates {
    std::int32_t dp = -1, pp = -1, tp = -1, ep = -1, cp = -1;
    friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

enum class ProcessEnd : std::uint8_t {
    Unknown,  // imported, or still running
    Exited,   // said goodbye
    Killed,   // vanished in mid-run: its events end early
};

// The clock from which the times of a process were read.
struct ClockReading {
    std::int32_t recording = 0;  // the file it came from, counted from 0
    // Ranks with equal numbers read one clock, so their times compare to a timer's error.
    std::int32_t clock = 0;
    // UTC at the trace's time 0 by this clock; none where nothing relates it to UTC.
    std::optional<std::int64_t> unixZero_ns = {};
    friend bool operator==(const ClockReading&, const ClockReading&) = default;
};

// One recorded process with its device, or with one of its devices. A process that is not a
// training rank (a launcher) has number -1 and takes no part in analyses.
struct Rank {
    std::int32_t number = -1;  // global rank
    Coordinates coordinates;
    std::string host;
    std::int64_t pid = 0;
    std::string program;  // executable name
    std::string device;   // "cpu", "cuda:0"; empty where unknown
    ProcessEnd end = ProcessEnd::Unknown;
    // How far its times may be from the same moments on other clocks; none where all ranks were
    // recorded on one clock, or nothing relates theirs.
    std::optional<base::Duration> clockBound = {};
    ClockReading clock = {};
    // Its process worked on several devices; each is a Rank with the same number, and this is one
    // of them. The first holds the host's threads.
    bool oneOfSeveralDevices = false;
};

// How wrong a comparison of times of two ranks may be beyond a timer's error: 0 on one clock,
// kFarthestNs where nothing relates their clocks.
[[nodiscard]] base::Duration clockError(const Rank& first, const Rank& second);

enum class LaneKind : std::uint8_t { HostThread, DeviceStream };

struct Lane {
    RankId rank;
    LaneKind kind = LaneKind::HostThread;
    std::int64_t nativeId = 0;  // thread id, stream id
    std::string name;           // thread name; may be empty
};

// What a lane is called for a person: its name, or "thread 7", "stream 7".
[[nodiscard]] std::string laneTitle(const Lane& lane);
// What a process is called for a person: "rank 3", "rank 3 cuda:1" for one of its devices, or
// "process 4711 (torchrun)".
[[nodiscard]] std::string rankTitle(const Rank& rank);

enum class EventKind : std::uint8_t { Range, Mark };

enum class EventFlag : std::uint8_t {
    None = 0,
    OpenAtEnd =
        1,  // a range whose end was never seen; its end is the last moment known of its lane
};

// One event as a row; Trace stores the columns.
struct Event {
    LaneId lane;
    base::StringId name;
    base::StringId domain;  // NVTX domain; invalid for the default domain
    EventKind kind = EventKind::Range;
    EventFlag flag = EventFlag::None;
    base::Interval span;  // empty for marks
};

enum class DependencyKind : std::uint8_t {
    Launch,  // a host call started device work
    Flow,    // an arrow the recorder drew for another reason
};

// What one event says of another.
struct Dependency {
    EventId from, to;
    DependencyKind kind = DependencyKind::Launch;
    friend bool operator==(const Dependency&, const Dependency&) = default;
};

// Compute with pipeline meaning. One action of one microbatch.
struct Task {
    RankId rank;
    EventId event;
    std::int32_t iteration = -1;
    std::int32_t stage = -1;
    std::int32_t chunk = -1;
    std::int32_t microbatch = -1;
    schedule::ActionKind kind = schedule::ActionKind::Forward;
    base::Interval span;
};

enum class PhaseKind : std::uint8_t { DataLoading, Optimizer };

// Work of a rank in an iteration that belongs to no microbatch.
struct Phase {
    RankId rank;
    EventId event;
    std::int32_t iteration = -1;
    PhaseKind kind = PhaseKind::Optimizer;
    base::Interval span;
};

// One rank's recorded iteration.
struct IterationSpan {
    RankId rank;
    EventId event;
    std::int32_t iteration = -1;
    base::Interval span;
};

enum class Operation : std::uint8_t {
    Send,
    Receive,
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Reduce,
    AllToAll,
    Barrier,
    Other
};
// Between two ranks; all others are collectives.
[[nodiscard]] constexpr bool isMessage(Operation operation) {
    return operation == Operation::Send || operation == Operation::Receive;
}

enum class Dimension : std::uint8_t { Pp, Dp, Tp, Ep, Cp, Other };

struct ProcessGroup {
    std::int64_t nativeId = -1;  // as the program named it; unique in the run
    Dimension dimension = Dimension::Other;
    std::int32_t size = 0;        // as announced; 0 unknown
    std::vector<RankId> members;  // ranks seen as members, ascending
};

// One rank's part in a communication. `span` runs from the moment this rank was ready to the end.
struct Transfer {
    RankId rank;
    EventId event;
    std::int32_t iteration = -1;
    std::int32_t stage = -1;
    std::int32_t chunk = -1;
    std::int32_t microbatch = -1;
    Operation operation = Operation::Other;
    Dimension dimension = Dimension::Other;
    std::int64_t bytes = 0;
    GroupId group;
    std::int32_t peer = -1;  // global rank number; -1 for collectives
    std::int64_t sequence = -1;
    base::Interval span;
    MatchId match;  // invalid: no partner was found

    // The action that named it, where it was one ("2SEND_F0"): SendForward … ReceiveBackward,
    // ReduceGradient.
    std::optional<schedule::ActionKind> action;
};

// A communication with all its parts: send with receive, or the members of a collective.
// It moves data from `ready` (the latest start among its members) on; before that, members wait for
// `lastRank`.
struct Match {
    std::vector<TransferId> members;
    base::TraceTime ready;
    RankId lastRank;        // whose part started last
    bool complete = false;  // every expected member was found
};

// What the order of tasks says about the schedule that ran.
struct RecognisedSchedule {
    std::string name;  // gpipe, 1f1b, interleaved, folded; "unknown"
    // Ranks and chunks are 0 where nothing tells which stage a rank runs.
    std::int32_t ranks = 0, chunks = 0, microbatches = 0, group = 0;
    double confidence = 0;  // share of (rank, iteration) orders that equal the named schedule's
    std::vector<std::string> also = {};  // other schedules that fit the orders exactly as well
};
// What a recognised schedule is called for a person: "1f1b", "gpipe or 1f1b".
[[nodiscard]] std::string scheduleTitle(const RecognisedSchedule& schedule);

[[nodiscard]] std::string_view toString(ProcessEnd end);       // unknown exited killed
[[nodiscard]] std::string_view toString(LaneKind kind);        // host_thread device_stream
[[nodiscard]] std::string_view toString(EventKind kind);       // range mark
[[nodiscard]] std::string_view toString(DependencyKind kind);  // launch flow
[[nodiscard]] std::string_view toString(PhaseKind kind);       // data optimizer
[[nodiscard]] std::string_view toString(Operation operation);  // send recv all_reduce …
[[nodiscard]] std::string_view toString(Dimension dimension);  // pp dp tp ep cp other
[[nodiscard]] std::optional<ProcessEnd> parseProcessEnd(std::string_view text);
[[nodiscard]] std::optional<LaneKind> parseLaneKind(std::string_view text);
[[nodiscard]] std::optional<DependencyKind> parseDependencyKind(std::string_view text);
[[nodiscard]] std::optional<PhaseKind> parsePhaseKind(std::string_view text);
[[nodiscard]] std::optional<Operation> parseOperation(std::string_view text);
[[nodiscard]] std::optional<Dimension> parseDimension(std::string_view text);

}  // namespace pleat::trace
