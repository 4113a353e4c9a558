// A measured task graph in the making: its nodes and edges so far, and who is who among them. The
// steps that make it: nodes (measured_nodes.cpp), edges (measured_links.cpp), times
// (measured_times.cpp). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "graph/measured_graph.h"
#include "graph/run_index.h"
#include "graph/task_graph.h"
#include "schedule/action.h"
#include "trace/trace.h"

namespace pleat::graph {

// A task or phase of a rank. What it waits for leads to its first piece, what waits for it follows
// its last.
struct Computed {
    base::Interval span;
    NodeId first, last;
    trace::EventId event;
    bool onItsLane = false;  // its time is that of its event, not of work on a device
};

// A rank's part of a communication. `entry` is where its dependencies go: the Ready node of its
// match, or the transfer itself when it has none.
struct TransferPart {
    const trace::Transfer* transfer = nullptr;
    trace::TransferId id;
    NodeId node, entry;
    std::int32_t inTask = -1;  // the task it began within, with whose pieces it is linked
    bool blocked = false;      // that task waited for it
};

// Why an edge is there; of edges that make a cycle the weaker is given up.
enum class EdgeReason : std::uint8_t {
    Order,     // one after another on a rank, a thread or a stream; parts of a match
    Rule,      // of the schedule, or of a program's timers
    Inferred,  // nothing recorded says so, times suggest it
};

struct Edge {
    NodeId from, to;
    EdgeReason reason = EdgeReason::Order;
};

struct MeasuredDraft {
    MeasuredDraft(const RunIndex& of, const IterationWindow& in)
        : run(of),
          trace(of.trace()),
          found(of.trace().annotations()),
          window(in.window),
          iteration(in.iteration),
          resolution(of.resolution().value),
          computed(of.trace().ranks().size()) {}

    const RunIndex& run;
    const trace::Trace& trace;
    const trace::Annotations& found;
    const base::Interval window;
    const std::int32_t iteration;
    const base::Duration resolution;

    base::IdVector<NodeTag, Node> nodes;
    std::vector<Edge> edges;
    Contradictions contradictions;
    std::vector<std::uint32_t> replica;           // [RankId index]: ranks of one pipeline share it
    std::vector<std::vector<Computed>> computed;  // [RankId index], in order
    std::vector<TransferPart> parts;              // in the order of the trace
    std::int32_t microbatches = 0;
    std::map<std::int32_t, std::int32_t> holder;  // stage -> pipeline coordinate

    // What an action's node is: what leads to it and what follows it.
    struct Ends {
        NodeId first, last;
    };
    void name(std::uint32_t ofReplica, const schedule::Action& action, Ends ends) {
        m_byAction[keyOf(ofReplica, action)] = ends;
    }
    [[nodiscard]] std::optional<Ends> find(std::uint32_t ofReplica,
                                           const schedule::Action& action) const {
        const auto known = m_byAction.find(keyOf(ofReplica, action));
        return known == m_byAction.end() ? std::nullopt : std::optional(known->second);
    }

    [[nodiscard]] base::Interval clip(base::Interval span) const;
    // The action of a task, with the parts of a composite, which stand only in its name.
    [[nodiscard]] schedule::Action actionOf(const trace::Task& task) const;
    // Leaves out what the times contradict by more than timers do, and counts it.
    void addEdge(NodeId from, NodeId to, EdgeReason reason);
    // When all that a node is known to depend on had ended.
    [[nodiscard]] base::IdVector<NodeTag, base::TraceTime> explainedTimes() const;

  private:
    // Stage and microbatch are below 2^20 (annotation sees to it), kinds below 2^4.
    using Key = std::uint64_t;
    static Key keyOf(std::uint32_t ofReplica, const schedule::Action& action) {
        return (Key{ofReplica} << 44) | (Key{static_cast<std::uint8_t>(action.kind)} << 40) |
               (Key{static_cast<std::uint32_t>(action.stage) & 0xfffffU} << 20) |
               (static_cast<std::uint32_t>(action.microbatch) & 0xfffffU);
    }
    std::unordered_map<Key, Ends> m_byAction;  // tasks and receives
};

void addNodes(MeasuredDraft& draft);
void addLinks(MeasuredDraft& draft);
// What surrounds the pipeline of a program with such timers (timer_rules.h). Part of addLinks.
void addTimerLinks(MeasuredDraft& draft);
// Without cycles, and with times that follow each other: what a node depends on ends before it
// begins, and the replay of the graph is what was measured.
[[nodiscard]] base::Result<TaskGraph> withTimes(MeasuredDraft draft);

}  // namespace pleat::graph
