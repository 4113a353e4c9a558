#include "support/true_account.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace pleat::testing {
namespace {

using base::Interval;
using base::TraceTime;

// In the order in which they take time.
enum Part : std::size_t { kCompute, kMoving, kCopy, kWaiting, kParts };

class Account {
  public:
    void add(Part part, Interval span) {
        if (span.empty()) return;
        m_changes.push_back({span.begin, part, 1});
        m_changes.push_back({span.end, part, -1});
    }
    // Time of each part within the window; behind them what none has.
    [[nodiscard]] std::array<std::int64_t, kParts + 1> sums(Interval window) {
        std::sort(m_changes.begin(), m_changes.end());
        std::array<std::int64_t, kParts + 1> sums{};
        std::array<int, kParts> open{};
        TraceTime from = window.begin;
        for (const auto& [time, part, change] : m_changes) {
            const TraceTime to = std::clamp(time, from, window.end);
            sums[firstOpen(open)] += (to - from).ns;
            from = to;
            open[part] += change;
        }
        sums[firstOpen(open)] += (window.end - from).ns;
        return sums;
    }

  private:
    static std::size_t firstOpen(const std::array<int, kParts>& open) {
        return static_cast<std::size_t>(
            std::find_if(open.begin(), open.end(), [](int count) { return count > 0; }) -
            open.begin());
    }
    std::vector<std::tuple<TraceTime, Part, int>> m_changes;
};

}  // namespace

std::vector<TrueAccount> trueAccounts(const SyntheticRun& run,
                                      const std::vector<std::vector<HostStep>>& host,
                                      bool gathers) {
    std::vector<TrueAccount> result(static_cast<std::size_t>(run.ranks));
    const auto iterations = static_cast<std::int64_t>(run.iterations.size());
    for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
        TrueAccount& mine = result[static_cast<std::size_t>(rank)];
        Account account;
        for (const SyntheticTask& task : run.tasks) {
            if (task.rank != rank) continue;
            mine.parts += 1;
            for (const Interval& piece : task.work) account.add(kCompute, piece);
        }
        for (const SyntheticPhase& phase : run.phases) {
            if (phase.rank != rank) continue;
            mine.parts += 1;
            if (phase.optimizer) account.add(kCompute, phase.span);
            if (!phase.optimizer && gathers) account.add(kMoving, phase.span);
        }
        for (const SyntheticTransfer& transfer : run.transfers) {
            if (transfer.rank != rank) continue;
            mine.parts += 1;
            account.add(kMoving, {transfer.ready, transfer.span.end});
            if (transfer.peer < 0) account.add(kWaiting, {transfer.span.begin, transfer.ready});
        }
        if (!host.empty()) {
            for (const HostStep& step : host[static_cast<std::size_t>(rank)]) {
                if (step.copy) account.add(kCopy, *step.copy);
            }
        }
        const auto sums =
            account.sums({run.iterations.front()[static_cast<std::size_t>(rank)].begin,
                          run.iterations.back()[static_cast<std::size_t>(rank)].end});
        mine.compute_ns = sums[kCompute] / iterations;
        mine.moving_ns = sums[kMoving] / iterations;
        mine.copy_ns = sums[kCopy] / iterations;
        mine.waiting_ns = sums[kWaiting] / iterations;
        mine.bubble_ns = sums[kParts] / iterations;
        mine.parts /= iterations;
    }
    return result;
}

}  // namespace pleat::testing
