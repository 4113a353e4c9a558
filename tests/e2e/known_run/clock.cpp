#include "e2e/known_run/clock.h"

#include <sched.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace pleat::test::known {
namespace {

// What a processor needs to wake up; the rest of a sleep is spent awake.
constexpr std::int64_t kSpinNs = 100'000;

std::atomic<std::int64_t> worstLateness{0};  // relaxed: read when the run is over

void noteLateness(std::int64_t latenessNs) {
    std::int64_t known = worstLateness.load(std::memory_order_relaxed);
    while (latenessNs > known &&
           !worstLateness.compare_exchange_weak(known, latenessNs, std::memory_order_relaxed)) {
    }
}

}  // namespace

std::int64_t nowNs() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void sleepUntil(std::int64_t deadlineNs) {
    const std::int64_t wakeNs = deadlineNs - kSpinNs;
    const timespec deadline{wakeNs / 1'000'000'000, wakeNs % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
    }
    while (nowNs() < deadlineNs) {
    }
    noteLateness(nowNs() - deadlineNs);
}

std::int64_t worstLatenessNs() { return worstLateness.load(std::memory_order_relaxed); }

std::string becomeRealTime() {
    const sched_param priority{10};
    if (sched_setscheduler(0, SCHED_FIFO, &priority) == 0) return {};
    return std::strerror(errno);
}

}  // namespace pleat::test::known
