// Which of a trace's annotations may touch a stretch of time, without looking at those that lie far
// from it. The annotations of a rank are in order of start; the last end up to every so many of
// them is kept, so that a long one is found however early it began.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interval_set.h"
#include "trace/model.h"

namespace pleat::graph {

class TouchIndex {
  public:
    TouchIndex() = default;
    explicit TouchIndex(std::size_t ranks) : m_first(ranks + 1, 0) {}

    // Items come in order of rank, then start.
    template <class Item>
    void add(const Item& item) {
        const std::size_t rank = item.rank.index();
        if (m_count % kBlock == 0) m_lastEnd.emplace_back();
        m_end = m_count > 0 && rank == m_rank ? std::max(m_end, item.span.end) : item.span.end;
        m_lastEnd.back() = m_end;
        m_rank = rank;
        m_first[rank + 1] = ++m_count;
    }
    // Once, after the last.
    void finish() {
        for (std::size_t r = 1; r < m_first.size(); ++r)
            m_first[r] = std::max(m_first[r], m_first[r - 1]);
    }

    [[nodiscard]] bool any(trace::RankId rank) const {
        return m_first[rank.index()] < m_first[rank.index() + 1];
    }
    // Positions [first, second) that hold every item of the rank whose span, with both its ends,
    // touches `span`, and few others. O(log items).
    template <class Items>
    [[nodiscard]] std::pair<std::size_t, std::size_t> range(const Items& items, trace::RankId rank,
                                                            base::Interval span) const {
        const std::size_t first = m_first[rank.index()], last = m_first[rank.index() + 1];
        const auto at = [&](std::size_t i) {
            return items.begin() + static_cast<std::ptrdiff_t>(i);
        };
        const auto end = std::partition_point(
            at(first), at(last), [&](const auto& item) { return item.span.begin <= span.end; });
        if (end == at(first)) return {first, first};
        // All blocks but the last end within the rank, so their last ends are of the rank alone.
        const auto block = [&](std::size_t b) {
            return m_lastEnd.begin() + static_cast<std::ptrdiff_t>(b);
        };
        const auto reaching =
            std::partition_point(block(first / kBlock), block((last - 1) / kBlock),
                                 [&](base::TraceTime lastEnd) { return lastEnd < span.begin; });
        const auto begin = static_cast<std::size_t>(reaching - m_lastEnd.begin()) * kBlock;
        const auto stop = static_cast<std::size_t>(end - items.begin());
        return {std::min(std::max(first, begin), stop), stop};
    }

  private:
    static constexpr std::size_t kBlock = 256;

    std::vector<std::size_t> m_first;  // rank -> its first item, and one more
    // Of each block of items: the last end of its last item's rank up to there.
    std::vector<base::TraceTime> m_lastEnd;
    base::TraceTime m_end;
    std::size_t m_rank = 0, m_count = 0;
};

}  // namespace pleat::graph
