// The earliest of one moment per queue: a tournament tree, so that a moment is changed in place and
// none is ever void. Of equal moments the lower queue's is first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pleat::advise {

class NextEvent {
  public:
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    explicit NextEvent(std::size_t queues) {
        while (m_leaves < queues) m_leaves *= 2;
        m_time.assign(m_leaves, kNever);
        m_winner.resize(2 * m_leaves);
        for (std::size_t i = 0; i < m_leaves; ++i)
            m_winner[m_leaves + i] = static_cast<std::uint32_t>(i);
        for (std::size_t node = m_leaves - 1; node > 0; --node) m_winner[node] = m_winner[2 * node];
    }

    void set(std::size_t queue, double time) {
        m_time[queue] = time;
        for (std::size_t node = (m_leaves + queue) / 2; node > 0; node /= 2) {
            const std::uint32_t left = m_winner[2 * node], right = m_winner[2 * node + 1];
            m_winner[node] = m_time[right] < m_time[left] ? right : left;
        }
    }
    [[nodiscard]] std::size_t queue() const { return m_leaves > 1 ? m_winner[1] : 0; }
    [[nodiscard]] double time() const { return m_time[queue()]; }

  private:
    std::size_t m_leaves = 1;
    std::vector<double> m_time;
    std::vector<std::uint32_t> m_winner;  // [node] the queue; leaves from m_leaves on
};

}  // namespace pleat::advise
