// Markers for tests: keeps everything that is said, in the order of each thread, with the names in
// clear. Thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "instrumented_runtime/markers.h"

namespace pleat::runtime {

struct RecordedTask {
    std::string name;
    payload::TaskPayload task;
};
struct RecordedTransfer {
    std::string name;
    payload::TransferPayload transfer;
    std::thread::id thread;
    std::chrono::steady_clock::time_point begin, end;
};

class RecordingMarkers final : public Markers {
  public:
    MarkerName taskName(std::string_view text) override { return keep(text); }
    MarkerName transferName(std::string_view text) override { return keep(text); }
    void nameThread(const std::string&) override {}
    void announceRank(const payload::RankPayload&) override {}
    void announceGroup(const payload::ProcessGroupPayload& group) override {
        const std::lock_guard lock(m_mutex);
        m_groups.push_back(group);
    }
    void pushTask(MarkerName name, const payload::TaskPayload& task) override {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back({text(name), task});
        ++m_open;
    }
    void pushPhase(MarkerName, const payload::IterationPayload&) override {
        const std::lock_guard lock(m_mutex);
        ++m_open;
    }
    void popTask() override {
        const std::lock_guard lock(m_mutex);
        --m_open;
    }
    void pushTransfer(MarkerName name, const payload::TransferPayload& transfer) override {
        const std::lock_guard lock(m_mutex);
        m_transfers.push_back({text(name),
                               transfer,
                               std::this_thread::get_id(),
                               std::chrono::steady_clock::now(),
                               {}});
        ++m_open;
    }
    void popTransfer() override {
        const std::lock_guard lock(m_mutex);
        for (auto open = m_transfers.rbegin(); open != m_transfers.rend(); ++open) {
            if (open->thread != std::this_thread::get_id()) continue;
            open->end = std::chrono::steady_clock::now();
            break;
        }
        --m_open;
    }

    // For when the threads that say things have ended.
    [[nodiscard]] const std::vector<RecordedTask>& tasks() const { return m_tasks; }
    [[nodiscard]] const std::vector<RecordedTransfer>& transfers() const { return m_transfers; }
    [[nodiscard]] const std::vector<payload::ProcessGroupPayload>& groups() const {
        return m_groups;
    }
    [[nodiscard]] int open() const { return m_open; }

  private:
    MarkerName keep(std::string_view text) {
        const std::lock_guard lock(m_mutex);
        m_names.emplace_back(text);
        return &m_names.back();
    }
    static std::string text(MarkerName name) { return *static_cast<const std::string*>(name); }

    std::mutex m_mutex;               // guards all below
    std::deque<std::string> m_names;  // a deque keeps addresses
    std::vector<RecordedTask> m_tasks;
    std::vector<RecordedTransfer> m_transfers;
    std::vector<payload::ProcessGroupPayload> m_groups;
    int m_open = 0;
};

}  // namespace pleat::runtime
