// WorkerPool: threads that are kept between frames and share the pieces of one job, the calling
// thread among them. A frame is prepared in a few milliseconds; starting threads for it would cost
// a good part of that. Jobs from several threads run one after the other; a job must not start
// another one on the same pool.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace pleat::timeline {

class WorkerPool {
  public:
    // `threads` counts the caller's; 0: as many as the machine runs at once, at most eight.
    explicit WorkerPool(unsigned threads = 0);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Calls work(0) … work(count - 1), in any order, several at once; returns when all are done.
    // `work` does not throw.
    template <class Work>
    void forEach(std::size_t count, Work&& work) {
        run({[](void* context, std::size_t i) {
                 (*static_cast<std::remove_reference_t<Work>*>(context))(i);
             },
             &work, count});
    }

  private:
    struct Job {
        void (*call)(void*, std::size_t) = nullptr;
        void* context = nullptr;
        std::size_t count = 0;
    };
    void run(Job job);
    void workOn(const Job& job);
    void serve();

    std::mutex m_oneJob;  // held for the length of a job
    std::mutex m_state;   // guards the four below; taken after m_oneJob
    Job m_job;
    std::size_t m_jobNumber = 0;
    std::size_t m_working = 0;  // threads that have not finished this job
    bool m_stopping = false;
    std::condition_variable m_started, m_finished;
    // Which piece is next. Relaxed: the state's mutex orders a job's data before and after it.
    std::atomic<std::size_t> m_next{0};
    std::vector<std::jthread> m_threads;  // last: they end before what they use does
};

}  // namespace pleat::timeline
