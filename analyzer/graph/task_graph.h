// The task graph: tasks, phases and transfers of one or more iterations with their dependencies.
// Made from a trace (measured) or from a schedule and a cost model (predicted); one type, one set
// of algorithms. Immutable once built.
//
// All edges are finish-to-start. A communication is a Ready node (no duration: the moment its last
// member is ready), which depends on what each member had to finish first, and one Transfer node
// per member from ready to that member's end. So waiting for a partner is never part of a duration.
// The graph of one rank's host and device (device_graph.h) has nodes of other kinds and treats
// waiting for the device in the same way.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/interval_set.h"
#include "base/result.h"
#include "schedule/action.h"
#include "trace/model.h"

namespace pleat::graph {

using NodeId = base::Id<struct NodeTag>;

enum class NodeKind : std::uint8_t {
    Task,
    Phase,
    Ready,
    Transfer,
    Host,    // a stretch of a host thread within one operator or call
    Call,    // no duration: the moment a host thread makes a call that starts or waits for work
    Return,  // a call that waits, from the end of what it waited for
    Work,    // a kernel, copy, set or graph on a device stream
};

struct Node {
    NodeKind kind = NodeKind::Task;
    schedule::ActionKind action = schedule::ActionKind::Forward;  // tasks and pipeline transfers
    trace::Dimension dimension = trace::Dimension::Other;         // transfers and their Ready node
    std::int32_t rank = -1;  // measured: RankId index; predicted: pipeline rank; -1 for Ready nodes
    std::int32_t iteration = 0;
    std::int32_t stage = -1;
    std::int32_t microbatch = -1;
    // A task in which communication begins is a chain of pieces: what it computes before, between
    // and after. They share their source; a piece may take no time.
    std::int32_t piece = 0, pieces = 1;
    bool cut = false;  // a part of it is outside the graph's window
    // Of a collective: its timers begin when the last member is there, so what others waited shows
    // as idle time before it.
    bool startsTogether = false;
    base::Duration duration;
    base::Duration
        delay;  // measured pause between the end of all it depends on and its start; never negative
    base::Interval measured;   // as recorded, but after all it depends on where timers overlap by
                               // noise; empty in a predicted graph
    std::int32_t source = -1;  // index of its task, phase, match or transfer in the trace's
                               // annotations, of its event (host and device); -1 predicted
};

// Dependencies that are not in the graph, for the times contradict them by more than timers do.
struct Contradictions {
    std::int64_t count = 0;
    NodeId before, after;  // of the worst
    base::Duration overlap;
};

class TaskGraph {
  public:
    // Input error naming a node on the cycle when the dependencies have one. Duplicate edges are
    // merged.
    [[nodiscard]] static base::Result<TaskGraph> build(
        base::IdVector<NodeTag, Node> nodes, std::vector<std::pair<NodeId, NodeId>> edges);

    [[nodiscard]] const base::IdVector<NodeTag, Node>& nodes() const { return m_nodes; }
    [[nodiscard]] std::span<const NodeId> predecessors(NodeId id) const;
    [[nodiscard]] std::span<const NodeId> successors(NodeId id) const;
    [[nodiscard]] std::span<const NodeId> topologicalOrder() const { return m_order; }
    [[nodiscard]] const Contradictions& contradictions() const { return m_contradictions; }

    // The same dependencies between nodes with other times, as many as there are.
    [[nodiscard]] TaskGraph withNodes(base::IdVector<NodeTag, Node> nodes) &&;
    [[nodiscard]] TaskGraph withContradictions(const Contradictions& contradictions) &&;

  private:
    base::IdVector<NodeTag, Node> m_nodes;
    std::vector<std::uint32_t> m_firstPredecessor, m_firstSuccessor;
    std::vector<NodeId> m_predecessors, m_successors, m_order;
    Contradictions m_contradictions;
};

struct Times {
    base::IdVector<NodeTag, base::Interval> of;  // start and finish of every node
    base::TraceTime end;                         // latest finish
};

// start = latest finish of the predecessors + delay, or `origin` + delay without any; finish =
// start + duration. `durations` replaces the nodes' own when not empty. O(nodes + edges).
[[nodiscard]] Times earliestTimes(const TaskGraph& graph, base::TraceTime origin = {},
                                  std::span<const base::Duration> durations = {});

// For every node by how much it may be late without moving `times.end`: latest finish minus
// earliest finish, >= 0.
[[nodiscard]] base::IdVector<NodeTag, base::Duration> slack(const TaskGraph& graph,
                                                            const Times& times);

// The chain of nodes that fixes times.end, first to last: each starts (after its delay) when its
// predecessor on the path finishes.
[[nodiscard]] std::vector<NodeId> criticalPath(const TaskGraph& graph, const Times& times);

}  // namespace pleat::graph
