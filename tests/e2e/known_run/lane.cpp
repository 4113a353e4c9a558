#include "e2e/known_run/lane.h"

#include <utility>

namespace pleat::test::known {

Board::Ticket Board::issue() {
    const std::lock_guard lock(m_mutex);
    m_done.push_back(false);
    ++m_open;
    return m_done.size() - 1;
}

void Board::complete(Ticket ticket) {
    {
        const std::lock_guard lock(m_mutex);
        m_done[ticket] = true;
        --m_open;
    }
    m_changed.notify_all();
}

void Board::wait(Ticket ticket) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_done[ticket]; });
}

void Board::waitForAll() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_open == 0; });
}

Lane::Lane(std::string name, Board& board, runtime::Markers& markers)
    : m_name(std::move(name)),
      m_board(board),
      m_markers(markers),
      m_thread([this](const std::stop_token& stop) { run(stop); }) {}

Board::Ticket Lane::post(std::function<void()> transfer) {
    const Board::Ticket ticket = m_board.issue();
    {
        const std::lock_guard lock(m_mutex);
        m_jobs.push_back({std::move(transfer), ticket});
    }
    m_posted.notify_one();
    return ticket;
}

void Lane::run(const std::stop_token& stop) {
    m_markers.nameThread(m_name);
    while (true) {
        Job job;
        {
            std::unique_lock lock(m_mutex);
            if (!m_posted.wait(lock, stop, [&] { return !m_jobs.empty(); })) return;
            job = std::move(m_jobs.front());
            m_jobs.pop_front();
        }
        job.transfer();
        m_board.complete(job.ticket);
    }
}

}  // namespace pleat::test::known
