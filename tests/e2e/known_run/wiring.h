// What connects the processes of a known run, made before they are forked: a channel for each
// direction of each link of each replica, a meeting place for each stage's replicas, and the times
// at which ranks began their iterations.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "e2e/known_run/plan.h"

namespace pleat::test::known {

// Messages from one rank to another, in order. The sender's end is used by the sender alone and the
// receiver's by the receiver. A lost peer ends the process.
class Channel {
  public:
    Channel();  // aborts where no sockets are to be had

    void send() const;        // returns at once: a message is one byte in the socket's buffer
    void receive() const;     // blocks until one has come
    void sayReady() const;    // receiver: I am there
    void awaitReady() const;  // sender: until the receiver has said so once more
    std::int32_t group = -1;  // number of its process group
    std::int32_t from = -1, to = -1;  // global ranks

  private:
    int m_sender = -1, m_receiver = -1;
};

// Where the replicas of a stage meet: the last to come sets the end for all. In shared memory.
class Meeting {
  public:
    void prepare(std::int32_t members);
    // Returns when all are there, with the time at which the common work ends.
    [[nodiscard]] std::int64_t meet(std::int64_t durationNs);

  private:
    pthread_mutex_t m_mutex;  // guards what follows
    pthread_cond_t m_changed;
    std::int32_t m_members, m_arrived;
    std::int64_t m_round, m_longest, m_end;
};

class Wiring {
  public:
    explicit Wiring(const Plan& plan);

    [[nodiscard]] const Channel& channel(bool forward, std::int32_t dp, std::int32_t fromPp,
                                         std::int32_t toPp) const {
        return m_channels.at({forward, dp, fromPp, toPp});
    }
    [[nodiscard]] Meeting& meetingOf(std::int32_t stage) const { return m_meetings[stage]; }
    // The number of the process group of the replicas of one pipeline rank.
    [[nodiscard]] std::int32_t syncGroup(std::int32_t pp) const { return m_firstSyncGroup + pp; }
    [[nodiscard]] std::int64_t& begin(std::int32_t rank, std::int32_t iteration) const {
        return m_begins[rank * (m_iterations + 1) + iteration];
    }
    // The worst lateness of the rank's sleeps.
    [[nodiscard]] std::int64_t& lateness(std::int32_t rank) const { return m_lateness[rank]; }
    [[nodiscard]] const auto& channels() const { return m_channels; }

  private:
    std::map<std::tuple<bool, std::int32_t, std::int32_t, std::int32_t>, Channel> m_channels;
    std::int32_t m_firstSyncGroup = 0;
    std::int32_t m_iterations = 0;
    Meeting* m_meetings = nullptr;       // [stage], shared
    std::int64_t* m_lateness = nullptr;  // [rank], shared
    std::int64_t* m_begins = nullptr;    // [rank][iteration], shared; the last entry is the end
};

}  // namespace pleat::test::known
