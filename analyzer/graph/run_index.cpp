#include "graph/run_index.h"

#include <algorithm>

#include "graph/message_style.h"

namespace pleat::graph {
namespace {

std::vector<trace::RankId> findTrainingRanks(const trace::Trace& trace, const TouchIndex& tasks,
                                             const std::vector<bool>& onDevice) {
    const bool anyTask = !trace.annotations().tasks.empty();
    std::vector<trace::RankId> ranks;
    for (std::size_t i = 0; i < trace.ranks().size(); ++i) {
        const trace::RankId id = trace::RankId::at(i);
        const bool takesPart = anyTask ? tasks.any(id) : onDevice[i];
        if (takesPart && trace.ranks()[id].number >= 0) ranks.push_back(id);
    }
    std::stable_sort(ranks.begin(), ranks.end(), [&](trace::RankId a, trace::RankId b) {
        return trace.ranks()[a].number < trace.ranks()[b].number;
    });
    return ranks;
}

}  // namespace

RunIndex::RunIndex(const trace::Trace& trace)
    : m_trace(&trace),
      m_kinds(trace),
      m_onDevice(ranksWithDeviceWork(trace, m_kinds)),
      m_windows(iterationWindows(trace, m_kinds, m_diagnostics)),
      m_tasks(grouped(trace.annotations().tasks)),
      m_phases(grouped(trace.annotations().phases)),
      m_transfers(grouped(trace.annotations().transfers)),
      m_ranks(findTrainingRanks(trace, m_tasks.touching, m_onDevice)),
      m_inner(innerTransfers(trace, m_kinds)),
      m_resolution(timerResolution(trace)),
      m_sendsAreBuffered(graph::sendsAreBuffered(trace, m_resolution.value)) {
    for (const trace::IterationSpan& range : trace.annotations().iterations)
        m_extent.add(range.span);
    m_resolution.note(m_diagnostics);
}

std::size_t RunIndex::windowOf(std::int32_t iteration) const {
    const auto found = std::lower_bound(m_windows.begin(), m_windows.end(), iteration,
                                        [](const IterationWindow& window, std::int32_t number) {
                                            return window.iteration < number;
                                        });
    return found != m_windows.end() && found->iteration == iteration
               ? static_cast<std::size_t>(found - m_windows.begin())
               : m_windows.size();
}

template <class Items>
RunIndex::Grouped RunIndex::grouped(const Items& items) {
    std::vector<std::uint32_t> windows;
    windows.reserve(items.size());
    Grouped groups{std::vector<std::uint32_t>(m_windows.size() + 1, 0),
                   {},
                   TouchIndex(m_trace->ranks().size())};
    std::size_t near = 0;  // lists are in order of rank and time, so iterations seldom change
    for (const auto& item : items) {
        if (near + 1 < m_windows.size() && m_windows[near + 1].iteration == item.iteration) {
            ++near;
        } else if (near >= m_windows.size() || m_windows[near].iteration != item.iteration) {
            near = windowOf(item.iteration);
        }
        windows.push_back(static_cast<std::uint32_t>(near));
        if (near < m_windows.size()) ++groups.first[near + 1];
        groups.touching.add(item);
        m_extent.add(item.span);
    }
    groups.touching.finish();
    for (std::size_t w = 0; w < m_windows.size(); ++w) groups.first[w + 1] += groups.first[w];
    groups.items.resize(groups.first.back());
    std::vector<std::uint32_t> next(groups.first.begin(), groups.first.end() - 1);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        if (windows[i] < m_windows.size())
            groups.items[next[windows[i]]++] = static_cast<std::uint32_t>(i);
    }
    return groups;
}

std::int32_t RunIndex::iterationBefore(std::int32_t iteration) const {
    const std::size_t window = windowOf(iteration);
    return window == 0 || window == m_windows.size() ? -1 : m_windows[window - 1].iteration;
}

IterationItems RunIndex::itemsOf(std::int32_t iteration) const {
    const std::size_t window = windowOf(iteration);
    if (window == m_windows.size()) return {};
    return {m_tasks.of(window), m_phases.of(window), m_transfers.of(window)};
}

}  // namespace pleat::graph
