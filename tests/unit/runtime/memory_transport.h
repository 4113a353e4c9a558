// A transport between threads of one process, for tests: a Hub holds the groups, each rank has a
// MemoryTransport on it. `breakAfter` makes a rank's channels fail after that many transfers, as if
// its peer had gone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "instrumented_runtime/transport.h"

namespace pleat::runtime {

class MemoryGroup {
  public:
    explicit MemoryGroup(std::size_t members) : m_members(members) {}

    void put(const Buffer& buffer) {
        const std::lock_guard lock(m_mutex);
        m_messages.emplace_back(buffer.data, buffer.data + buffer.size);
        m_changed.notify_all();
    }
    void take(const Buffer& buffer) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return !m_messages.empty(); });
        std::copy(m_messages.front().begin(), m_messages.front().end(), buffer.data);
        m_messages.pop_front();
    }
    void sum(const Buffer& buffer) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock,
                       [&] { return m_left == 0; });  // the reduction before has been read by all
        m_sum.resize(buffer.size, 0);
        for (std::size_t i = 0; i < buffer.size; ++i) m_sum[i] += buffer.data[i];
        if (++m_arrived == m_members) {
            m_left = std::exchange(m_arrived, 0);
            m_changed.notify_all();
        }
        m_changed.wait(lock, [&] { return m_left > 0; });
        std::copy(m_sum.begin(), m_sum.end(), buffer.data);
        if (--m_left == 0) {
            m_sum.clear();
            m_changed.notify_all();
        }
    }

  private:
    std::size_t m_members;
    std::mutex m_mutex;  // guards all below
    std::condition_variable m_changed;
    std::deque<std::vector<float>> m_messages;
    std::vector<float> m_sum;
    std::size_t m_arrived = 0;
    std::size_t m_left = 0;  // members that have yet to read the sum
};

class MemoryHub {
  public:
    std::shared_ptr<MemoryGroup> group(const Group& described) {
        const std::lock_guard lock(m_mutex);
        auto& group = m_groups[described.id];
        if (!group) group = std::make_shared<MemoryGroup>(described.members.size());
        return group;
    }

  private:
    std::mutex m_mutex;  // guards m_groups
    std::map<std::int32_t, std::shared_ptr<MemoryGroup>> m_groups;
};

class MemoryChannel final : public Channel {
  public:
    MemoryChannel(std::shared_ptr<MemoryGroup> group, std::optional<int> breakAfter)
        : m_group(std::move(group)), m_breakAfter(breakAfter) {}
    [[nodiscard]] base::Result<void> send(const Buffer& buffer) override {
        if (broken()) return gone();
        m_group->put(buffer);
        return {};
    }
    [[nodiscard]] base::Result<void> receive(const Buffer& buffer) override {
        if (broken()) return gone();
        m_group->take(buffer);
        return {};
    }
    [[nodiscard]] base::Result<void> allReduceSum(const Buffer& buffer) override {
        if (broken()) return gone();
        m_group->sum(buffer);
        return {};
    }

  private:
    bool broken() { return m_breakAfter && (*m_breakAfter)-- <= 0; }
    static base::Error gone() { return {base::ErrorCode::Io, "the peer is gone"}; }

    std::shared_ptr<MemoryGroup> m_group;
    std::optional<int> m_breakAfter;
};

class MemoryTransport final : public Transport {
  public:
    explicit MemoryTransport(MemoryHub& hub, std::optional<int> breakAfter = {})
        : m_hub(hub), m_breakAfter(breakAfter) {}
    [[nodiscard]] base::Result<std::unique_ptr<Channel>> join(const Group& group) override {
        return std::unique_ptr<Channel>(
            std::make_unique<MemoryChannel>(m_hub.group(group), m_breakAfter));
    }
    [[nodiscard]] base::Result<void> leave() override { return {}; }

  private:
    MemoryHub& m_hub;
    std::optional<int> m_breakAfter;
};

}  // namespace pleat::runtime
