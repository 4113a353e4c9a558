#include "timeline/worker_pool.h"

#include <algorithm>

namespace pleat::timeline {

WorkerPool::WorkerPool(unsigned threads) {
    if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
    for (unsigned i = 1; i < threads; ++i) m_threads.emplace_back([this] { serve(); });
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(m_state);
        m_stopping = true;
    }
    m_started.notify_all();
}

void WorkerPool::workOn(const Job& job) {
    while (true) {
        const std::size_t i = m_next.fetch_add(1, std::memory_order_relaxed);
        if (i >= job.count) return;
        job.call(job.context, i);
    }
}

void WorkerPool::run(Job job) {
    const std::lock_guard one(m_oneJob);
    if (job.count <= 1) {  // not worth waking anybody
        if (job.count == 1) job.call(job.context, 0);
        return;
    }
    {
        const std::lock_guard lock(m_state);
        m_job = job;
        ++m_jobNumber;
        m_working = m_threads.size();
        m_next.store(0, std::memory_order_relaxed);
    }
    m_started.notify_all();
    workOn(job);
    std::unique_lock lock(m_state);
    m_finished.wait(lock, [&] { return m_working == 0; });
}

void WorkerPool::serve() {
    std::size_t served = 0;
    while (true) {
        Job job;
        {
            std::unique_lock lock(m_state);
            m_started.wait(lock, [&] { return m_stopping || m_jobNumber != served; });
            if (m_stopping) return;
            served = m_jobNumber;
            job = m_job;
        }
        workOn(job);
        const std::lock_guard lock(m_state);
        if (--m_working == 0) m_finished.notify_one();
    }
}

}  // namespace pleat::timeline
