// Sleeping that is exact although the machine is busy: absolute deadlines on CLOCK_MONOTONIC, and a
// real-time priority so that a process that only sleeps and exchanges small messages is run at once
// when its time has come. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace pleat::test::known {

[[nodiscard]] std::int64_t nowNs();
void sleepUntil(std::int64_t deadlineNs);
// By how much a sleep of this process ended too late at worst: what disturbed the run.
[[nodiscard]] std::int64_t worstLatenessNs();

// For the calling thread and those it starts. The reason where it is refused, else empty.
[[nodiscard]] std::string becomeRealTime();

}  // namespace pleat::test::known
