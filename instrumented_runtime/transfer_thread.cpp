#include "instrumented_runtime/transfer_thread.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

namespace pleat::runtime {
namespace {

template <std::size_t size>
void copyText(char (&to)[size], const char* from) {
    std::strncpy(to, from, size - 1);  // the payload starts zeroed, so the text ends
}

}  // namespace

const char* toString(TransferOperation operation) {
    switch (operation) {
        case TransferOperation::Send:
            return "send";
        case TransferOperation::Receive:
            return "recv";
        case TransferOperation::AllReduce:
            return "all_reduce";
    }
    return "";
}

std::int64_t LinkLimit::costNs(std::int64_t bytes) const {
    if (bytesPerSecond <= 0) return latencyNs;
    return latencyNs + std::llround(std::ceil(static_cast<double>(bytes) / bytesPerSecond * 1e9));
}

base::Result<void> TransferBoard::wait(const Transfer& transfer) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return transfer.done || m_failure; });
    if (m_failure) return *m_failure;
    return {};
}

void TransferBoard::complete(Transfer& transfer) {
    {
        const std::lock_guard lock(m_mutex);
        transfer.done = true;
    }
    m_changed.notify_all();
}

void TransferBoard::fail(const base::Error& error) {
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure) m_failure = error;
    }
    m_changed.notify_all();
}

TransferThread::TransferThread(Setup setup, Markers& markers, TransferBoard& board)
    : m_setup(std::move(setup)),
      m_markers(markers),
      m_board(board),
      m_thread([this](const std::stop_token& stop) { run(stop); }) {}

TransferHandle TransferThread::post(TransferJob job) {
    auto handle = std::make_shared<Transfer>();
    if (job.operation == TransferOperation::Receive) handle->received = job.buffer;
    {
        const std::lock_guard lock(m_mutex);
        m_queue.push_back({std::move(job), handle});
    }
    m_posted.notify_one();
    return handle;
}

void TransferThread::run(const std::stop_token& stop) {
    m_markers.nameThread(m_setup.threadName);
    while (true) {
        Posted next;
        {
            std::unique_lock lock(m_mutex);
            // False only when asked to stop with nothing left to do.
            if (!m_posted.wait(lock, stop, [&] { return !m_queue.empty(); })) return;
            next = std::move(m_queue.front());
            m_queue.pop_front();
        }
        m_markers.pushTransfer(next.job.name, describe(next.job));
        const base::Result<void> carried = carry(next.job);
        m_markers.popTransfer();
        ++m_sequence;
        if (!carried) {
            m_board.fail(carried.error());
            return;
        }
        m_board.complete(*next.handle);
    }
}

base::Result<void> TransferThread::carry(const TransferJob& job) {
    // The receiver of a slow message is late because its sender is: only senders and reductions
    // wait here.
    if (job.operation != TransferOperation::Receive) {
        if (const std::int64_t cost = costNs(job); cost > 0) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(cost));
        }
    }
    switch (job.operation) {
        case TransferOperation::Send:
            return m_setup.channel->send(job.buffer);
        case TransferOperation::Receive:
            return m_setup.channel->receive(job.buffer);
        case TransferOperation::AllReduce:
            return m_setup.channel->allReduceSum(job.buffer);
    }
    return {};
}

std::int64_t TransferThread::costNs(const TransferJob& job) const {
    std::int64_t bytes = job.buffer.bytes();
    if (job.operation == TransferOperation::AllReduce) {
        // What a ring all-reduce of n members sends per member.
        const auto members = static_cast<std::int64_t>(m_setup.group.members.size());
        bytes = bytes * 2 * (members - 1) / members;
    }
    return m_setup.limit.costNs(bytes);
}

payload::TransferPayload TransferThread::describe(const TransferJob& job) const {
    payload::TransferPayload described{};
    described.bytes = job.buffer.bytes();
    described.sequence = m_sequence;
    described.iteration = job.iteration;
    described.stage = job.stage;
    described.chunk = job.chunk;
    described.microbatch = job.microbatch;
    described.group = m_setup.group.id;
    const bool link = job.operation != TransferOperation::AllReduce;
    const auto& members = m_setup.group.members;
    described.peer = link ? members[m_setup.rank == members[0] ? 1 : 0] : -1;
    copyText(described.operation, toString(job.operation));
    copyText(described.dimension, m_setup.group.dimension());
    return described;
}

}  // namespace pleat::runtime
