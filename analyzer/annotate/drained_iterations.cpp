#include "annotate/drained_iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/say.h"

namespace pleat::annotate {
namespace {

using schedule::ActionKind;
using trace::RankId;

struct RankTasks {
    std::vector<trace::Task*> tasks;         // without an iteration, by begin
    std::vector<base::TraceTime> optimizer;  // ends of its steps, ascending
};

bool isForward(const trace::Task& task) { return task.kind == ActionKind::Forward; }
bool isBackward(const trace::Task& task) {
    return task.kind == ActionKind::FullBackward || task.kind == ActionKind::InputBackward;
}

class DrainedIterations {
  public:
    explicit DrainedIterations(Draft& draft) : m_draft(draft) {}

    void run() {
        std::set<RankId> marked;
        for (const trace::IterationSpan& span : m_draft.enclosing) marked.insert(span.rank);
        for (trace::Task& task : m_draft.found.tasks) {
            if (task.iteration < 0 && task.microbatch < 0 && !marked.contains(task.rank))
                m_ranks[task.rank].tasks.push_back(&task);
        }
        if (m_ranks.empty()) return;
        for (const trace::Phase& phase : m_draft.found.phases) {
            const auto rank = m_ranks.find(phase.rank);
            if (rank != m_ranks.end() && phase.kind == trace::PhaseKind::Optimizer)
                rank->second.optimizer.push_back(phase.span.end);
        }
        numberByOptimizer();
        numberByDrain();
        for (const auto& [rank, of] : m_ranks) note(of);
        numberTransfers();
    }

  private:
    void numberByOptimizer() {
        for (auto& [rank, of] : m_ranks) {
            for (trace::Task* task : of.tasks) {
                if (of.optimizer.empty()) break;
                const auto before =
                    std::upper_bound(of.optimizer.begin(), of.optimizer.end(), task->span.begin);
                task->iteration = static_cast<std::int32_t>(before - of.optimizer.begin());
            }
        }
    }

    // How many forwards a rank runs before it is even again, the first time and every other time; 0
    // where these differ.
    static std::size_t forwardsUntilEven(const RankTasks& of) {
        std::size_t forwards = 0, backwards = 0, usual = 0;
        for (const trace::Task* task : of.tasks) {
            forwards += isForward(*task) ? 1 : 0;
            backwards += isBackward(*task) ? 1 : 0;
            if (forwards == 0 || forwards != backwards) continue;
            if (usual != 0 && usual != forwards) return 0;
            usual = forwards;
            forwards = backwards = 0;
        }
        return usual;
    }

    void numberByDrain() {
        std::size_t microbatches = 0;
        for (const auto& [rank, of] : m_ranks)
            if (of.optimizer.empty()) microbatches = std::max(microbatches, forwardsUntilEven(of));
        if (microbatches == 0) return;
        for (auto& [rank, of] : m_ranks) {
            std::map<ActionKind, std::size_t> count;
            for (trace::Task* task : of.tasks) {
                if (!of.optimizer.empty()) break;
                task->iteration = static_cast<std::int32_t>(count[task->kind]++ / microbatches);
            }
        }
    }

    void note(const RankTasks& of) {
        for (const trace::Task* task : of.tasks) {
            if (task->iteration < 0) continue;
            m_draft.diagnostics.add(
                "iteration_guessed",
                fmt::format("\"{}\": no range marks iterations; each is assumed to end {}",
                            base::printable(m_draft.events.name(task->event), 80),
                            of.optimizer.empty() ? "when as many backwards as forwards have run"
                                                 : "with the rank's optimizer step"));
        }
    }

    void numberTransfers() {
        std::map<std::pair<RankId, std::optional<ActionKind>>, std::vector<trace::Transfer*>>
            groups;
        for (trace::Transfer& transfer : m_draft.found.transfers) {
            if (transfer.iteration < 0 && transfer.action && m_ranks.contains(transfer.rank))
                groups[{transfer.rank, transfer.action}].push_back(&transfer);
        }
        for (auto& [key, list] : groups) {
            std::set<std::int32_t> iterations;
            for (const trace::Task* task : m_ranks.at(key.first).tasks)
                if (task->iteration >= 0) iterations.insert(task->iteration);
            if (iterations.empty() || list.size() % iterations.size() != 0) continue;
            const std::size_t each = list.size() / iterations.size();
            auto iteration = iterations.begin();
            for (std::size_t i = 0; i < list.size(); ++i) {
                if (i > 0 && i % each == 0) ++iteration;
                list[i]->iteration = *iteration;
            }
        }
    }

    Draft& m_draft;
    std::map<RankId, RankTasks> m_ranks;
};

}  // namespace

void numberDrainedIterations(Draft& draft) { DrainedIterations(draft).run(); }

}  // namespace pleat::annotate
