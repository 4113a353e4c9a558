#include "models/pipeline_scene_maker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "timeline/path_marks.h"

namespace pleat::models {
namespace {

using timeline::PipelineRows;
using timeline::PipelineScene;
using timeline::PipelineTask;
using timeline::PipelineWork;

constexpr auto kByRowThenBegin = [](const auto& a, const auto& b) {
    return std::tie(a.row, a.span.begin) < std::tie(b.row, b.span.begin);
};

// Which row a rank's work is in. By stage, ranks that hold the same stage of the same replica stand
// one below the other.
class Rows {
  public:
    Rows(const trace::Trace& trace, const analysis::IterationAnalysis& analysis, PipelineRows by)
        : m_trace(trace), m_by(by) {
        for (const analysis::RankIteration& rank : analysis.ranks) m_stages[rank.rank];
        if (by == PipelineRows::Stage) findStages(analysis);
        for (auto& [rank, stages] : m_stages) {
            if (stages.empty()) stages.insert(-1);
        }
        number(analysis);
    }

    [[nodiscard]] const std::vector<timeline::PipelineRow>& all() const { return m_rows; }
    // Nothing for a rank that takes no part, and for a stage that it does not hold.
    [[nodiscard]] std::optional<std::uint32_t> of(trace::RankId rank, std::int32_t stage) const {
        const auto found = m_rowOf.find({rank, m_by == PipelineRows::Rank ? -1 : stage});
        if (found == m_rowOf.end()) return std::nullopt;
        return found->second;
    }
    // The row for what belongs to no stage: that of the rank's first.
    [[nodiscard]] std::optional<std::uint32_t> of(trace::RankId rank) const {
        const auto stages = m_stages.find(rank);
        if (stages == m_stages.end()) return std::nullopt;
        return of(rank, *stages->second.begin());
    }

  private:
    void findStages(const analysis::IterationAnalysis& analysis) {
        for (const trace::Task& task : m_trace.annotations().tasks) {
            const auto rank = m_stages.find(task.rank);
            if (rank != m_stages.end()) rank->second.insert(task.stage);
        }
        if (!analysis.ideal) return;
        for (auto& [rank, stages] : m_stages) {
            const std::int32_t pp = m_trace.ranks()[rank].coordinates.pp;
            for (const graph::Node& node : analysis.ideal->graph.nodes()) {
                if (node.kind == graph::NodeKind::Task && node.rank == pp)
                    stages.insert(node.stage);
            }
        }
    }

    void number(const analysis::IterationAnalysis& analysis) {
        std::vector<std::pair<trace::RankId, std::int32_t>> order;
        for (const analysis::RankIteration& rank : analysis.ranks) {
            for (const std::int32_t stage : m_stages[rank.rank])
                order.emplace_back(rank.rank, stage);
        }
        if (m_by == PipelineRows::Stage) {
            std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
                return std::pair(m_trace.ranks()[a.first].coordinates.dp, a.second) <
                       std::pair(m_trace.ranks()[b.first].coordinates.dp, b.second);
            });
        }
        for (const auto& [rank, stage] : order) {
            m_rowOf.emplace(std::pair(rank, stage), static_cast<std::uint32_t>(m_rows.size()));
            m_rows.push_back({m_trace.ranks()[rank].number, titleOf(rank, stage), stage});
        }
    }

    [[nodiscard]] std::string titleOf(trace::RankId rank, std::int32_t stage) const {
        const trace::Rank& about = m_trace.ranks()[rank];
        std::string title = trace::rankTitle(about);
        if (m_by == PipelineRows::Stage)
            return stage < 0 ? title : "stage " + std::to_string(stage) + ", " + title;
        if (about.coordinates.pp >= 0) title += ", pp " + std::to_string(about.coordinates.pp);
        if (about.coordinates.dp > 0) title += ", dp " + std::to_string(about.coordinates.dp);
        return title;
    }

    const trace::Trace& m_trace;
    PipelineRows m_by;
    std::map<trace::RankId, std::set<std::int32_t>> m_stages;  // by rank none: one row
    std::map<std::pair<trace::RankId, std::int32_t>, std::uint32_t> m_rowOf;
    std::vector<timeline::PipelineRow> m_rows;
};

class SceneMaker {
  public:
    SceneMaker(const trace::Trace& trace, const analysis::IterationAnalysis& analysis,
               PipelineRows by)
        : m_trace(trace), m_analysis(analysis), m_rows(trace, analysis, by) {
        m_scene.window = analysis.window.window;
        m_scene.rows = m_rows.all();
    }

    PipelineScene make() && {
        findCriticalEvents();
        findSlack();
        addTasks();
        addMessages();
        addGaps();
        addGhosts();
        std::stable_sort(m_scene.tasks.begin(), m_scene.tasks.end(), kByRowThenBegin);
        std::stable_sort(m_scene.gaps.begin(), m_scene.gaps.end(), kByRowThenBegin);
        std::stable_sort(m_scene.ghosts.begin(), m_scene.ghosts.end(), kByRowThenBegin);
        return std::move(m_scene);
    }

  private:
    // A piece of work of a rank, in whichever of its rows.
    struct Work {
        base::Interval span;
        std::uint32_t row = 0;
    };

    void findCriticalEvents() {
        if (!m_analysis.graph) return;
        for (const analysis::PathPiece& piece : m_analysis.path) {
            if (piece.pause || !piece.node.valid()) continue;
            const graph::Node& node = m_analysis.graph->nodes()[piece.node];
            if (node.kind == graph::NodeKind::Task || node.kind == graph::NodeKind::Phase)
                m_critical.insert({node.kind, node.source});
        }
    }

    void findSlack() {
        if (!m_analysis.graph) return;
        m_scene.palest = timeline::palestSlack(m_scene.window);
        const auto& nodes = m_analysis.graph->nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const graph::NodeId id = graph::NodeId::at(i);
            if (nodes[id].source < 0) continue;
            // A task in pieces has the slack of the tightest.
            const auto [known, isNew] = m_slack.emplace(
                std::pair(nodes[id].kind, nodes[id].source), m_analysis.slack[id]);
            if (!isNew) known->second = std::min(known->second, m_analysis.slack[id]);
        }
    }
    [[nodiscard]] std::optional<base::Duration> slackOf(graph::NodeKind kind,
                                                        std::size_t source) const {
        const auto found = m_slack.find({kind, static_cast<std::int32_t>(source)});
        return found == m_slack.end() ? std::nullopt : std::optional(found->second);
    }

    [[nodiscard]] base::Interval clipped(base::Interval span) const {
        return intersect(span, m_scene.window);
    }
    [[nodiscard]] bool outside(base::Interval span) const {
        return span.end < m_scene.window.begin || span.begin >= m_scene.window.end;
    }

    void add(trace::RankId rank, const PipelineTask& task) {
        m_scene.tasks.push_back(task);
        m_work[rank].push_back({task.span, task.row});
    }

    void addTasks() {
        const trace::Annotations& found = m_trace.annotations();
        for (std::size_t i = 0; i < found.tasks.size(); ++i) {
            const trace::Task& task = found.tasks[trace::TaskId::at(i)];
            const auto row = m_rows.of(task.rank, task.stage);
            if (!row || outside(task.span)) continue;
            add(task.rank,
                {*row, PipelineWork::Task, task.kind, task.stage, task.chunk, task.microbatch,
                 clipped(task.span), task.event,
                 m_critical.contains({graph::NodeKind::Task, static_cast<std::int32_t>(i)}),
                 slackOf(graph::NodeKind::Task, i)});
        }
        for (std::size_t i = 0; i < found.phases.size(); ++i) {
            const trace::Phase& phase = found.phases[i];
            const auto row = m_rows.of(phase.rank);
            if (!row || outside(phase.span)) continue;
            const bool data = phase.kind == trace::PhaseKind::DataLoading;
            PipelineTask task;
            task.row = *row;
            task.work = data ? PipelineWork::DataLoading : PipelineWork::Optimizer;
            task.span = clipped(phase.span);
            task.event = phase.event;
            task.critical =
                m_critical.contains({graph::NodeKind::Phase, static_cast<std::int32_t>(i)});
            task.slack = slackOf(graph::NodeKind::Phase, i);
            add(phase.rank, task);
        }
        for (auto& [rank, work] : m_work) {
            std::stable_sort(work.begin(), work.end(), [](const Work& a, const Work& b) {
                return a.span.begin < b.span.begin;
            });
        }
    }

    // From the row that sent to the row that received, while data moved.
    void addMessages() {
        const trace::Annotations& found = m_trace.annotations();
        for (const trace::Match& match : found.matches) {
            const trace::Transfer *sent = nullptr, *received = nullptr;
            for (const trace::TransferId member : match.members) {
                const trace::Transfer& transfer = found.transfers[member];
                if (transfer.operation == trace::Operation::Send) sent = &transfer;
                if (transfer.operation == trace::Operation::Receive) received = &transfer;
            }
            if (sent == nullptr || received == nullptr) continue;
            // A receive of the next iteration may be posted in this one.
            const base::Interval moving{std::min(match.ready, received->span.end),
                                        received->span.end};
            if (outside(moving)) continue;
            const auto from = m_rows.of(sent->rank, sent->stage),
                       to = m_rows.of(received->rank, received->stage);
            if (!from || !to || *from == *to) continue;
            m_scene.messages.push_back({*from, *to, moving, received->microbatch, received->event});
        }
        std::stable_sort(m_scene.messages.begin(), m_scene.messages.end(),
                         [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    }

    // A rank is idle as a whole, before the work that it waits for: that work's row has the gap.
    [[nodiscard]] std::uint32_t rowOfGap(trace::RankId rank, base::TraceTime begin) const {
        const auto work = m_work.find(rank);
        if (work != m_work.end()) {
            // Pieces of a rank's work do not cross, so their ends ascend too.
            const auto next =
                std::partition_point(work->second.begin(), work->second.end(),
                                     [&](const Work& piece) { return piece.span.end <= begin; });
            if (next != work->second.end()) return next->row;
        }
        return *m_rows.of(rank);
    }

    void addGaps() {
        std::uint32_t number = 0;
        for (const analysis::RankIteration& rank : m_analysis.ranks) {
            for (const analysis::IdleGap& gap : rank.bubble) {
                std::vector<double> shares;
                const auto whole = static_cast<double>(gap.causes.total().ns);
                for (const base::Duration part : gap.causes.of)
                    shares.push_back(static_cast<double>(part.ns) / whole);
                for (const base::Interval piece : gap.pieces)
                    m_scene.gaps.push_back(
                        {rowOfGap(rank.rank, piece.begin), piece, number, shares});
                ++number;
            }
        }
    }

    // On the rows of the same pipeline rank, in every replica.
    void addGhosts() {
        if (!m_analysis.ideal) return;
        const base::Duration begin = m_scene.window.begin - base::TraceTime{};
        for (const analysis::RankIteration& rank : m_analysis.ranks) {
            const std::int32_t pp = m_trace.ranks()[rank.rank].coordinates.pp;
            const graph::TaskGraph& graph = m_analysis.ideal->graph;
            for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
                const graph::Node& node = graph.nodes()[graph::NodeId::at(i)];
                if (node.kind != graph::NodeKind::Task || node.rank != pp) continue;
                const base::Interval span = m_analysis.ideal->times.of[graph::NodeId::at(i)];
                PipelineTask ghost;
                ghost.row = *m_rows.of(rank.rank, node.stage);
                ghost.kind = node.action;
                ghost.stage = node.stage;
                ghost.microbatch = node.microbatch;
                ghost.span = {span.begin + begin, span.end + begin};
                m_scene.ghosts.push_back(ghost);
            }
        }
    }

    const trace::Trace& m_trace;
    const analysis::IterationAnalysis& m_analysis;
    const Rows m_rows;
    std::set<std::pair<graph::NodeKind, std::int32_t>> m_critical;
    std::map<std::pair<graph::NodeKind, std::int32_t>, base::Duration> m_slack;
    std::map<trace::RankId, std::vector<Work>> m_work;  // by begin
    PipelineScene m_scene;
};

}  // namespace

PipelineScene makePipelineScene(const trace::Trace& trace,
                                const analysis::IterationAnalysis& analysis, PipelineRows rows) {
    return SceneMaker(trace, analysis, rows).make();
}

}  // namespace pleat::models
