#include "analysis/replay_model.h"

#include <algorithm>
#include <cmath>

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;

// One iteration run forward from 0.
class Replayed {
  public:
    Replayed(const ReplayIteration& iteration, const TimeOf& time, bool withPauses)
        : m_graph(iteration.graph),
          m_delay(m_graph.nodes().size()),
          m_finish(m_graph.nodes().size()) {
        for (const NodeId id : m_graph.topologicalOrder()) {
            NodeTime taken = time(iteration, id.index());
            if (!withPauses) taken.delay = {};
            if (iteration.operation[id.index()] == kNone) taken.duration = {};
            base::Duration start;
            for (const NodeId before : m_graph.predecessors(id))
                start = std::max(start, m_finish[before.index()]);
            m_delay[id.index()] = taken.delay;
            m_finish[id.index()] = start + taken.delay + taken.duration;
            if (m_finish[id.index()] < m_end) continue;
            m_end = m_finish[id.index()];
            m_last = id;
        }
    }

    [[nodiscard]] base::Duration end() const { return m_end; }

    // Back from the node that ends last, always to the one before it that ended last.
    [[nodiscard]] base::Duration pausesOnPath() const {
        base::Duration pauses;
        for (NodeId at = m_last; at.valid();) {
            pauses += m_delay[at.index()];
            NodeId before;
            for (const NodeId candidate : m_graph.predecessors(at)) {
                if (!before.valid() || m_finish[candidate.index()] > m_finish[before.index()])
                    before = candidate;
            }
            at = before;
        }
        return pauses;
    }

  private:
    const graph::TaskGraph& m_graph;
    std::vector<base::Duration> m_delay, m_finish;  // [node]
    base::Duration m_end;
    NodeId m_last;
};

}  // namespace

const ReplayOperation* ReplayModel::operationOf(const ReplayIteration& iteration,
                                                std::size_t node) const {
    const std::uint32_t index = iteration.operation[node];
    return index == kNone ? nullptr : &operations[index];
}

NodeTime recordedTime(const ReplayIteration& iteration, std::size_t node) {
    if (node < iteration.recorded.size()) return iteration.recorded[node];
    const Node& recorded = iteration.graph.nodes()[NodeId::at(node)];
    return {recorded.duration, recorded.delay};
}

TimeOf recordedTimes() { return recordedTime; }

std::vector<base::Duration> replayed(const ReplayModel& model, const TimeOf& time) {
    std::vector<base::Duration> lengths;
    for (const ReplayIteration& iteration : model.iterations)
        lengths.push_back(Replayed(iteration, time, true).end() + iteration.rest);
    return lengths;
}

std::vector<base::Duration> replayedWithoutPauses(const ReplayModel& model, const TimeOf& time) {
    std::vector<base::Duration> lengths;
    for (const ReplayIteration& iteration : model.iterations)
        lengths.push_back(Replayed(iteration, time, false).end());
    return lengths;
}

ReplaySummary replaySummary(const ReplayModel& model) {
    double predicted = 0, measured = 0, error = 0, pauses = 0;
    for (const ReplayIteration& iteration : model.iterations) {
        const Replayed replay(iteration, recordedTimes(), true);
        const base::Duration length = replay.end() + iteration.rest;
        predicted += static_cast<double>(length.ns);
        measured += static_cast<double>(iteration.measured.ns);
        error += static_cast<double>(std::abs((length - iteration.measured).ns));
        pauses += static_cast<double>((replay.pausesOnPath() + iteration.rest).ns);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, model.iterations.size()));
    return {{std::llround(predicted / count)},
            {std::llround(measured / count)},
            measured > 0 ? error / measured : 0,
            {std::llround(meanOf(replayedWithoutPauses(model, recordedTimes())))},
            predicted > 0 ? pauses / predicted : 0};
}

double meanOf(std::span<const base::Duration> durations) {
    double sum = 0;
    for (const base::Duration duration : durations) sum += static_cast<double>(duration.ns);
    return durations.empty() ? 0 : sum / static_cast<double>(durations.size());
}

}  // namespace pleat::analysis
