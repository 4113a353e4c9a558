// One thread per channel that carries its transfers one after the other, so that the compute thread
// waits only for a message it needs. TransferBoard is where the compute thread waits: for one
// transfer, or for the first failure of any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "instrumented_runtime/buffer.h"
#include "instrumented_runtime/markers.h"
#include "instrumented_runtime/transport.h"

namespace pleat::runtime {

// A link made slow on purpose. A transfer lasts at least its cost from the moment this rank takes
// it up.
struct LinkLimit {
    double bytesPerSecond = 0;  // 0: not limited
    std::int64_t latencyNs = 0;

    [[nodiscard]] std::int64_t costNs(std::int64_t bytes) const;
};

enum class TransferOperation : std::uint8_t { Send, Receive, AllReduce };
[[nodiscard]] const char* toString(TransferOperation operation);  // "send", "recv", "all_reduce"

// Handed out by TransferThread::post; `done` is guarded by the board's mutex.
struct Transfer {
    Buffer received;  // of a receive: full once it is done
    bool done = false;
};
using TransferHandle = std::shared_ptr<Transfer>;

class TransferBoard {
  public:
    // Blocks until the transfer is done; the first failure of any transfer ends every wait.
    [[nodiscard]] base::Result<void> wait(const Transfer& transfer);
    void complete(Transfer& transfer);
    void fail(const base::Error& error);

  private:
    std::mutex m_mutex;  // guards m_failure and every Transfer::done
    std::condition_variable m_changed;
    std::optional<base::Error> m_failure;
};

// What is known of a transfer when it is posted.
struct TransferJob {
    MarkerName name = nullptr;
    TransferOperation operation = TransferOperation::Send;
    std::int32_t iteration = 0;
    std::int32_t stage = -1, chunk = -1, microbatch = -1;
    Buffer buffer;
};

class TransferThread {
  public:
    struct Setup {
        std::string threadName;
        Group group;
        std::int32_t rank = 0;  // this rank, a member of the group
        std::unique_ptr<Channel> channel;
        LinkLimit limit;
    };
    TransferThread(Setup setup, Markers& markers, TransferBoard& board);
    // Finishes what was posted. After a failure a peer may be gone and the thread stuck in a
    // transfer, so the process must then end without coming here.
    ~TransferThread() = default;

    // From the compute thread. Transfers run in the order they are posted.
    TransferHandle post(TransferJob job);

  private:
    void run(const std::stop_token& stop);
    [[nodiscard]] base::Result<void> carry(const TransferJob& job);
    [[nodiscard]] payload::TransferPayload describe(const TransferJob& job) const;
    [[nodiscard]] std::int64_t costNs(const TransferJob& job) const;

    struct Posted {
        TransferJob job;
        TransferHandle handle;
    };

    Setup m_setup;
    Markers& m_markers;
    TransferBoard& m_board;
    std::int64_t m_sequence = 0;  // transfers begun; of m_thread only
    std::mutex m_mutex;           // guards m_queue
    std::condition_variable_any m_posted;
    std::deque<Posted> m_queue;
    std::jthread m_thread;  // last: it uses all of the above
};

}  // namespace pleat::runtime
