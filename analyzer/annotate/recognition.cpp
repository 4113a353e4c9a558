#include "annotate/recognition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "annotate/advice.h"
#include "schedule/generators.h"

namespace pleat::annotate {
namespace {

using schedule::ActionKind;

struct Step {
    ActionKind kind;
    std::int32_t stage, microbatch;
    friend auto operator<=>(const Step&, const Step&) = default;
};

// What ranks ran in an iteration, and how often one did.
struct Order {
    std::int32_t pipelineRank = 0;
    std::vector<Step> steps;
    std::int64_t count = 0;
};

struct Shape {
    std::int32_t ranks = 0, chunks = 0, microbatches = 0;
};

std::vector<Order> ordersOf(const base::IdVector<trace::RankTag, trace::Rank>& ranks,
                            const base::IdVector<trace::TaskTag, trace::Task>& tasks) {
    const auto before = [](const trace::Task* a, const trace::Task* b) {
        return std::pair(a->rank, a->iteration) < std::pair(b->rank, b->iteration);
    };
    std::vector<const trace::Task*> sorted;
    sorted.reserve(tasks.size());
    for (const trace::Task& task : tasks) sorted.push_back(&task);
    // In order of rank and start, they nearly always are in that of iterations.
    if (!std::is_sorted(sorted.begin(), sorted.end(), before))
        std::stable_sort(sorted.begin(), sorted.end(), before);
    std::map<std::pair<std::int32_t, std::vector<Step>>, std::int64_t> counts;
    std::pair<std::int32_t, std::vector<Step>> order;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const trace::Task& task = *sorted[i];
        order.second.push_back({task.kind, task.stage, task.microbatch});
        if (i + 1 < sorted.size() && !before(sorted[i], sorted[i + 1])) continue;
        order.first = ranks[task.rank].coordinates.pp;
        ++counts[order];
        order.second.clear();
    }
    std::vector<Order> result;
    for (const auto& [known, count] : counts) result.push_back({known.first, known.second, count});
    return result;
}

Shape shapeOf(const std::vector<Order>& orders) {
    std::int32_t stages = 0, microbatches = 0;
    std::set<std::int32_t> pipelineRanks;
    for (const Order& order : orders) {
        pipelineRanks.insert(order.pipelineRank);
        for (const Step& step : order.steps) {
            stages = std::max(stages, step.stage + 1);
            microbatches = std::max(microbatches, step.microbatch + 1);
        }
    }
    const auto pipeline = static_cast<std::int32_t>(pipelineRanks.size());
    return {pipeline, pipeline == 0 ? 0 : stages / pipeline, microbatches};
}

// Interleaved orders show their group: so many forwards come before the first of another stage.
std::set<std::int32_t> groupsSeen(const std::vector<Order>& orders) {
    std::set<std::int32_t> groups;
    for (const Order& order : orders) {
        const auto other =
            std::find_if(order.steps.begin(), order.steps.end(),
                         [&](const Step& step) { return step.stage != order.steps.front().stage; });
        groups.insert(static_cast<std::int32_t>(other - order.steps.begin()));
    }
    return groups;
}

std::vector<std::vector<Step>> computeOrder(const schedule::Schedule& schedule) {
    std::vector<std::vector<Step>> steps;
    for (const auto& order : schedule.order) {
        steps.emplace_back();
        for (const schedule::Action& action : order) {
            if (isCompute(action.kind)) {
                steps.back().push_back({action.kind, action.stage, action.microbatch});
            }
        }
    }
    return steps;
}

// The folded schedule's first-in-first-out variant: backwards of a chunk in ascending order.
void reverseBackwardsOfEachStage(std::vector<std::vector<Step>>& orders) {
    for (auto& steps : orders) {
        for (auto first = steps.begin(); first != steps.end();) {
            const auto last = std::find_if(first, steps.end(), [&](const Step& step) {
                return step.kind != first->kind || step.stage != first->stage;
            });
            if (first->kind == ActionKind::FullBackward) std::reverse(first, last);
            first = last;
        }
    }
}

double shareOfEqual(const std::vector<Order>& orders,
                    const std::vector<std::vector<Step>>& expected) {
    std::int64_t equal = 0, all = 0;
    for (const Order& order : orders) {
        all += order.count;
        if (order.pipelineRank >= 0 &&
            order.pipelineRank < static_cast<std::int32_t>(expected.size()) &&
            order.steps == expected[static_cast<std::size_t>(order.pipelineRank)])
            equal += order.count;
    }
    return static_cast<double>(equal) / static_cast<double>(all);
}

class Recognition {
  public:
    explicit Recognition(std::vector<Order> orders)
        : m_orders(std::move(orders)), m_shape(shapeOf(m_orders)) {
        m_best = {"unknown", m_shape.ranks, m_shape.chunks, m_shape.microbatches, 0, 0, {}};
    }

    trace::RecognisedSchedule run() {
        if (!fits()) return m_best;
        if (m_shape.chunks == 1) {
            consider("gpipe", 0, false);
            consider("1f1b", 0, false);
        } else {
            for (const std::int32_t group : groupsSeen(m_orders)) {
                consider("interleaved", group, false);
            }
        }
        consider("folded", 0, false);
        consider("folded", 0, true);
        return m_best;
    }

  private:
    // An order that equals a schedule's has a forward and a backward of every chunk and
    // microbatch; so wild numbers in a few names never make a huge schedule.
    bool fits() const {
        std::size_t longest = 0;
        for (const Order& order : m_orders) longest = std::max(longest, order.steps.size());
        const auto tasks = 2 * std::int64_t{m_shape.chunks} * m_shape.microbatches;
        return tasks > 0 && tasks <= static_cast<std::int64_t>(longest);
    }

    void consider(std::string_view name, std::int32_t group, bool firstInFirstOut) {
        const auto made = schedule::makeSchedule(
            name, {m_shape.ranks, m_shape.microbatches, m_shape.chunks, group});
        if (!made) return;  // the schedule does not exist for this size
        auto expected = computeOrder(*made);
        if (firstInFirstOut) reverseBackwardsOfEachStage(expected);
        const double share = shareOfEqual(m_orders, expected);
        if (share < 0.5 || share < m_best.confidence) return;
        if (share == m_best.confidence) {
            const bool known =
                m_best.name == name ||
                std::find(m_best.also.begin(), m_best.also.end(), name) != m_best.also.end();
            if (!known) m_best.also.emplace_back(name);
            return;
        }
        m_best.also.clear();
        m_best.name = name;
        m_best.group = made->group;
        m_best.confidence = share;
    }

    std::vector<Order> m_orders;
    Shape m_shape;
    trace::RecognisedSchedule m_best;
};

}  // namespace

bool isStageUnknown(const Draft& draft) {
    std::set<trace::RankId> ranks;
    const auto& tasks = draft.found.tasks;
    bool placed = false;
    for (const trace::Task& task : tasks) {
        if (task.stage != tasks[trace::TaskId(0)].stage) return false;
        placed = placed || draft.ranks[task.rank].coordinates.pp >= 0;
        ranks.insert(task.rank);
    }
    const auto& transfers = draft.found.transfers;
    const bool hasMessages =
        std::any_of(transfers.begin(), transfers.end(), [](const trace::Transfer& transfer) {
            return isMessage(transfer.operation) && transfer.dimension == trace::Dimension::Pp;
        });
    // Messages of a single stage go to stages that are not in the trace.
    return !tasks.empty() && (hasMessages || (ranks.size() > 1 && !placed));
}

std::optional<trace::RecognisedSchedule> recogniseSchedule(Draft& draft) {
    if (draft.found.tasks.empty()) return std::nullopt;
    trace::RecognisedSchedule found = Recognition(ordersOf(draft.ranks, draft.found.tasks)).run();
    if (!draft.stagesUnknown) return found;
    std::set<trace::RankId> ranks;
    for (const trace::Task& task : draft.found.tasks) ranks.insert(task.rank);
    draft.diagnostics.add(
        "stages_unknown",
        fmt::format("the recorded events do not show which part of a pipeline the recorded rank{}, "
                    "so no schedule is reported; open the traces of all ranks together, and {}",
                    ranks.size() == 1 ? " runs" : "s run", kHowToNameStages),
        static_cast<std::int64_t>(ranks.size()));
    return trace::RecognisedSchedule{"unknown", 0, 0, found.microbatches, 0, 0, {}};
}

}  // namespace pleat::annotate
