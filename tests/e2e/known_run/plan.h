// What a known run does: its schedule, how long every piece of work takes, and what is made slow on
// purpose. Given on the command line of `known_run` and the same in every one of its processes, so
// that a test can say what the iteration time is made of. Times are in ns. Immutable once parsed;
// safe to read from any process or thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schedule/schedule.h"

namespace pleat::test::known {

// How a rank carries its messages. Compute always runs on one thread in the order of the schedule.
enum class Engine : std::uint8_t {
    Ahead,    // receives posted when the iteration begins, sends on threads of their own
    Posted,   // as Ahead, and every message has a thread of its own: ranges overlap, nothing queues
    WaitAll,  // each receive when its task needs it, sends on threads, all waited for at the end
    Inline,   // on the compute thread: receive before the task, send after it into a buffer
    Literal,  // on the compute thread, in the order `schedule convert --communication` prints
    Blocking,  // as Literal, and a send waits until its receiver is there
    Stream,    // one thread per peer takes sends and receives in printed order
    Batched,   // sends and receives between two tasks start together; all are waited for
    Nested,    // as Inline, and the task's range holds its receive, its sends and its sync
};
[[nodiscard]] std::optional<Engine> parseEngine(std::string_view text);

// Which work an injection means: everything that fits all conditions given.
struct Selector {
    std::string operation;  // F, B, data, optimizer, sync, send; empty: F and B, of a link send
    std::optional<std::int32_t> rank, stage, dp, microbatch, iteration;
    std::optional<std::pair<std::int32_t, std::int32_t>> link;  // global ranks, the lower first
};

struct Work {
    std::string_view operation;
    std::int32_t rank = -1, stage = -1, dp = -1, microbatch = -1, iteration = -1;
    std::int32_t peer = -1;  // of a message
};
[[nodiscard]] bool covers(const Selector& selector, const Work& work);

struct Injection {
    Selector where;
    double value = 1;
};

struct Plan {
    std::int32_t dp = 1, iterations = 6;
    Engine engine = Engine::Ahead;
    schedule::Schedule lowered;
    std::int64_t forward = 0, backward = 0, data = 0, optimizer = 0;
    std::int64_t sync = 0;      // of one stage's gradients, once all replicas are there
    std::int64_t latency = 0;   // of a message
    std::int64_t bytes = 0;     // of a message
    double bytesPerSecond = 0;  // of a link; 0: not limited
    double jitter = 0;          // tasks vary by up to this fraction, the same in every run
    bool realTime = true;
    std::vector<Injection> slow;     // value: a factor
    std::vector<Injection> pause;    // value: ms before each task, in no range
    std::vector<Injection> contend;  // value: share of its time a rank's core is taken away

    [[nodiscard]] std::int32_t pp() const { return lowered.ranks(); }
    [[nodiscard]] std::int32_t worldSize() const { return dp * pp(); }
    [[nodiscard]] std::int32_t rankAt(std::int32_t dpRank, std::int32_t ppRank) const {
        return dpRank * pp() + ppRank;
    }
    // How long it takes where nothing interferes.
    [[nodiscard]] std::int64_t durationOf(const Work& work) const;
    [[nodiscard]] std::int64_t pauseBefore(const Work& work) const;
    // When work of this length that begins at `start` ends: later where the core is taken away.
    [[nodiscard]] std::int64_t endOf(const Work& work, std::int64_t start) const;
};

// A usage error in one line.
[[nodiscard]] base::Result<Plan> parsePlan(const std::vector<std::string>& arguments);

}  // namespace pleat::test::known
