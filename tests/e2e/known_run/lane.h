// A thread that carries transfers one after the other, and the board on which everybody sees which
// are done. `Board` is thread-safe; a `Lane` is posted to by one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "instrumented_runtime/markers.h"

namespace pleat::test::known {

class Board {
  public:
    using Ticket = std::uint64_t;
    Ticket issue();
    void complete(Ticket ticket);
    void wait(Ticket ticket);
    void waitForAll();

  private:
    std::mutex m_mutex;  // guards what follows
    std::condition_variable m_changed;
    std::deque<bool> m_done;  // [ticket]
    std::uint64_t m_open = 0;
};

class Lane {
  public:
    Lane(std::string name, Board& board, runtime::Markers& markers);
    Board::Ticket post(std::function<void()> transfer);

  private:
    void run(const std::stop_token& stop);

    struct Job {
        std::function<void()> transfer;
        Board::Ticket ticket;
    };
    std::string m_name;
    Board& m_board;
    runtime::Markers& m_markers;
    std::mutex m_mutex;  // guards m_jobs
    std::condition_variable_any m_posted;
    std::deque<Job> m_jobs;
    std::jthread m_thread;  // last: it uses all of the above
};

}  // namespace pleat::test::known
