#include "e2e/known_run/wiring.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "e2e/known_run/clock.h"

namespace pleat::test::known {
namespace {

constexpr int kLostPeer = 75;

void writeByte(int handle) {
    const char byte = 1;
    if (::write(handle, &byte, 1) != 1) _exit(kLostPeer);
}

void readByte(int handle) {
    char byte = 0;
    if (::read(handle, &byte, 1) != 1) _exit(kLostPeer);
}

void* shared(std::size_t bytes) {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return memory;
}

}  // namespace

Channel::Channel() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    m_sender = ends[0];
    m_receiver = ends[1];
}

void Channel::send() const { writeByte(m_sender); }
void Channel::receive() const { readByte(m_receiver); }
void Channel::sayReady() const { writeByte(m_receiver); }
void Channel::awaitReady() const { readByte(m_sender); }

void Meeting::prepare(std::int32_t members) {
    pthread_mutexattr_t mutex;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m_mutex, &mutex);
    pthread_condattr_t condition;
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&m_changed, &condition);
    m_members = members;
    m_arrived = 0;
    m_round = m_longest = m_end = 0;
}

std::int64_t Meeting::meet(std::int64_t durationNs) {
    pthread_mutex_lock(&m_mutex);
    m_longest = std::max(m_longest, durationNs);
    const std::int64_t round = m_round;
    if (++m_arrived == m_members) {
        m_end = nowNs() + m_longest;
        m_arrived = 0;
        m_longest = 0;
        ++m_round;
        pthread_cond_broadcast(&m_changed);
    }
    while (m_round == round) pthread_cond_wait(&m_changed, &m_mutex);
    const std::int64_t end = m_end;
    pthread_mutex_unlock(&m_mutex);
    return end;
}

Wiring::Wiring(const Plan& plan) : m_iterations(plan.iterations) {
    std::int32_t group = 0;
    for (std::int32_t dp = 0; dp < plan.dp; ++dp) {
        for (std::int32_t stage = 0; stage + 1 < plan.lowered.placement.stages(); ++stage) {
            const std::int32_t lower = plan.lowered.placement.rankOf(stage);
            const std::int32_t upper = plan.lowered.placement.rankOf(stage + 1);
            if (lower == upper) continue;
            for (const bool forward : {true, false}) {
                const std::int32_t from = forward ? lower : upper, to = forward ? upper : lower;
                auto [made, isNew] = m_channels.try_emplace({forward, dp, from, to});
                if (!isNew) continue;
                made->second.group = group++;
                made->second.from = plan.rankAt(dp, from);
                made->second.to = plan.rankAt(dp, to);
            }
        }
    }
    m_firstSyncGroup = group;
    const auto stages = static_cast<std::size_t>(plan.lowered.placement.stages());
    m_meetings = static_cast<Meeting*>(shared(stages * sizeof(Meeting)));
    for (std::size_t stage = 0; stage < stages; ++stage) m_meetings[stage].prepare(plan.dp);
    m_lateness = static_cast<std::int64_t*>(
        shared(static_cast<std::size_t>(plan.worldSize()) * sizeof(std::int64_t)));
    m_begins = static_cast<std::int64_t*>(shared(static_cast<std::size_t>(plan.worldSize()) *
                                                 static_cast<std::size_t>(plan.iterations + 1) *
                                                 sizeof(std::int64_t)));
}

}  // namespace pleat::test::known
