#include "analysis/replay_model.h"

#include <algorithm>
#include <cmath>

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;

// Iterations that follow each other, run forward from 0.
class Replayed {
  public:
    Replayed(const ReplayIteration& iteration, const TimeOf& time, bool withPauses)
        : m_stretch(iteration),
          m_withPauses(withPauses),
          m_graph(iteration.graph),
          m_delay(m_graph.nodes().size()),
          m_start(m_graph.nodes().size()),
          m_finish(m_graph.nodes().size()) {
        for (const NodeId id : m_graph.topologicalOrder()) {
            NodeTime taken = time(iteration, id.index());
            if (!withPauses) taken.delay = {};
            if (iteration.operation[id.index()] == kNone) taken.duration = {};
            base::Duration start;
            for (const NodeId before : m_graph.predecessors(id))
                start = std::max(start, m_finish[before.index()]);
            m_delay[id.index()] = taken.delay;
            m_start[id.index()] = start + taken.delay;
            m_finish[id.index()] = start + taken.delay + taken.duration;
            if (m_finish[id.index()] < m_end) continue;
            m_end = m_finish[id.index()];
            m_last = id;
        }
    }

    // Of each iteration.
    void addLengths(std::vector<base::Duration>& lengths) const {
        base::Duration begin;
        for (std::size_t w = 0; w < m_stretch.windows.size(); ++w) {
            const bool isLast = w + 1 == m_stretch.windows.size();
            const base::Duration end = isLast ? this->end() : beginOf(w + 1);
            const base::Duration idle = m_withPauses ? m_stretch.windows[w].idle : base::Duration{};
            if (w >= m_stretch.warmUp)
                lengths.push_back(std::max(base::Duration{}, end - begin - idle));
            begin = end;
        }
    }

    [[nodiscard]] base::Duration end() const {
        const base::Duration last =
            m_stretch.ends.valid() ? m_finish[m_stretch.ends.index()] : m_end;
        return m_withPauses ? last + m_stretch.rest : last;
    }

    // Back from the node that ends last, always to the one before it that ended last.
    [[nodiscard]] base::Duration pausesOnPath() const {
        base::Duration pauses;
        for (NodeId at = m_last; at.valid() && m_stretch.counts(at.index());) {
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
    [[nodiscard]] base::Duration beginOf(std::size_t window) const {
        const ReplayWindow& of = m_stretch.windows[window];
        const std::size_t first = of.begins.index();
        if (m_withPauses) return m_start[first] - of.lead;
        return m_start[first];
    }

    const ReplayIteration& m_stretch;
    const bool m_withPauses;
    const graph::TaskGraph& m_graph;
    std::vector<base::Duration> m_delay, m_start, m_finish;  // [node]
    base::Duration m_end;
    NodeId m_last;
};

}  // namespace

const ReplayOperation* ReplayModel::operationOf(const ReplayIteration& iteration,
                                                std::size_t node) const {
    const std::uint32_t index = iteration.operation[node];
    return index == kNone ? nullptr : &operations[index];
}

std::vector<ReplayWindow> ReplayModel::windows() const {
    std::vector<ReplayWindow> all;
    for (const ReplayIteration& iteration : iterations)
        all.insert(all.end(),
                   iteration.windows.begin() + static_cast<std::ptrdiff_t>(iteration.warmUp),
                   iteration.windows.end());
    return all;
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
        Replayed(iteration, time, true).addLengths(lengths);
    return lengths;
}

std::vector<base::Duration> replayedWithoutPauses(const ReplayModel& model, const TimeOf& time) {
    std::vector<base::Duration> lengths;
    for (const ReplayIteration& iteration : model.iterations)
        Replayed(iteration, time, false).addLengths(lengths);
    return lengths;
}

ReplaySummary replaySummary(const ReplayModel& model) {
    double predicted = 0, measured = 0, error = 0, pauses = 0;
    std::vector<base::Duration> lengths;
    for (const ReplayIteration& iteration : model.iterations) {
        const Replayed replay(iteration, recordedTimes(), true);
        replay.addLengths(lengths);
        pauses += static_cast<double>((replay.pausesOnPath() + iteration.rest).ns);
    }
    const std::vector<ReplayWindow> windows = model.windows();
    for (std::size_t w = 0; w < windows.size(); ++w) {
        predicted += static_cast<double>(lengths[w].ns);
        measured += static_cast<double>(windows[w].measured.ns);
        error += static_cast<double>(std::abs((lengths[w] - windows[w].measured).ns));
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, windows.size()));
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
