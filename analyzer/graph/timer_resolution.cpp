#include "graph/timer_resolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/say.h"
#include "base/statistics.h"
#include "trace/limits.h"

namespace pleat::graph {
namespace {

using schedule::ActionKind;
using trace::Task;
using trace::Transfer;

// A quarter of the usual task, and no more than any timer may be wrong by or a hundredth of it:
// what overlaps by more does run in parallel.
base::Duration mostNoise(const base::IdVector<trace::TaskTag, Task>& tasks) {
    // Of a long run so many, spread evenly over it, tell the usual length.
    constexpr std::size_t kMostLookedAt = 200'000;
    const std::size_t step = 1 + tasks.size() / kMostLookedAt;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < tasks.size(); i += step)
        lengths.push_back(tasks[trace::TaskId::at(i)].span.length().ns);
    const std::int64_t usual = base::medianOf(lengths);
    return {std::min(usual / 4, std::max(trace::kMostTimerNoiseNs, usual / 100))};
}

auto passOf(const Task& task) { return std::pair(task.rank, task.iteration); }

auto keyOf(const Task& task) {
    return std::tuple(task.stage, task.microbatch, task.kind == ActionKind::Forward);
}

class Estimate {
  public:
    explicit Estimate(const trace::Trace& trace)
        : m_trace(trace), m_most(mostNoise(trace.annotations().tasks)) {
        m_tasks.reserve(trace.annotations().tasks.size());
        const Task* before = nullptr;
        for (const Task& task : trace.annotations().tasks) {
            if (before != nullptr && before->rank == task.rank)
                compare(before->span, before->event, task.span, task);
            before = &task;
            // The gradient that is handed on is that of B or I.
            if (task.kind == ActionKind::Forward || task.kind == ActionKind::FullBackward ||
                task.kind == ActionKind::InputBackward)
                m_tasks.push_back(&task);
        }
        const auto earlier = [](const Task* a, const Task* b) { return passOf(*a) < passOf(*b); };
        // In order of rank and time, they nearly always are in that of iterations.
        if (!std::is_sorted(m_tasks.begin(), m_tasks.end(), earlier))
            std::stable_sort(m_tasks.begin(), m_tasks.end(), earlier);
        m_first = m_last = m_tasks.end();
    }

    TimerResolution run() && {
        for (const Transfer& transfer : m_trace.annotations().transfers) {
            if (!transfer.action) continue;
            if (isCommunication(*transfer.action)) ofMessage(transfer);
            if (*transfer.action == ActionKind::ReduceGradient) ofSync(transfer);
        }
        return std::move(m_found);
    }

  private:
    void ofMessage(const Transfer& message) {
        const bool forward = *message.action == ActionKind::SendForward ||
                             *message.action == ActionKind::ReceiveForward;
        enter({message.rank, message.iteration});
        const auto key = std::tuple(message.stage, message.microbatch, forward);
        const auto found =
            std::lower_bound(m_first, m_last, key,
                             [](const Task* task, const auto& of) { return keyOf(*task) < of; });
        if (found == m_last || keyOf(**found) != key) return;
        if (message.operation == trace::Operation::Receive) {
            compare(message.span, message.event, (*found)->span, **found);
        } else {
            compare((*found)->span, (*found)->event, message.span, message);
        }
    }

    // It follows the last backward of its stage.
    void ofSync(const Transfer& sync) {
        enter({sync.rank, sync.iteration});
        const Task* last = nullptr;
        for (auto task = m_first; task != m_last; ++task) {
            if ((*task)->stage == sync.stage && (*task)->kind != ActionKind::Forward &&
                (last == nullptr || (*task)->span.end > last->span.end))
                last = *task;
        }
        if (last != nullptr) compare(last->span, last->event, sync.span, sync);
    }

    // Puts the tasks of a rank's iteration in order; messages come one iteration after the other.
    void enter(std::pair<trace::RankId, std::int32_t> pass) {
        if (m_first != m_last && passOf(**m_first) == pass) return;
        const bool isNext = m_last != m_tasks.end() && passOf(**m_last) == pass;
        m_first = isNext ? m_last
                         : std::lower_bound(
                               m_tasks.begin(), m_tasks.end(), pass,
                               [](const Task* task, const auto& of) { return passOf(*task) < of; });
        m_last = std::find_if(m_first, m_tasks.end(),
                              [&](const Task* task) { return passOf(*task) != pass; });
        std::stable_sort(m_first, m_last,
                         [](const Task* a, const Task* b) { return keyOf(*a) < keyOf(*b); });
    }

    // `before` has to end before `after` may begin.
    template <class After>
    void compare(base::Interval before, trace::EventId event, base::Interval span,
                 const After& after) {
        const base::Duration overlap = before.end - span.begin;
        if (overlap.ns <= 0 || overlap > m_most || before.begin > span.begin + m_most ||
            before.end > span.end + m_most)
            return;
        ++m_found.overlaps;
        if (overlap <= m_found.value) return;
        m_found.value = overlap;
        m_found.example = fmt::format(
            "\"{}\" of rank {} starts {:.1f} us before \"{}\" ends, although that comes first",
            nameOf(after.event), m_trace.ranks()[after.rank].number,
            static_cast<double>(overlap.ns) / 1e3, nameOf(event));
    }

    [[nodiscard]] std::string nameOf(trace::EventId event) const {
        return event.valid() ? base::printable(m_trace.name(event), 80) : std::string();
    }

    const trace::Trace& m_trace;
    const base::Duration m_most;
    std::vector<const Task*> m_tasks;                    // by passOf
    std::vector<const Task*>::iterator m_first, m_last;  // of the pass entered; by keyOf
    TimerResolution m_found;
};

}  // namespace

void TimerResolution::note(base::Diagnostics& diagnostics) const {
    if (overlaps == 0) return;
    diagnostics.add(
        "timer_resolution",
        fmt::format("{}; times of a rank that differ by up to {:.1f} us are treated as equal",
                    example, static_cast<double>(value.ns) / 1e3),
        overlaps);
}

TimerResolution timerResolution(const trace::Trace& trace) {
    if (trace.annotations().tasks.empty()) return {};
    return Estimate(trace).run();
}

}  // namespace pleat::graph
