// Starts the ranks of a run on this machine as copies of this program and watches them: when one
// ends badly it says which and how, and ends the others. One call at a time, from the main thread
// of a process with no other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pleat::runtime {

// How a child ended, of what waitpid says.
struct ChildEnd {
    std::int32_t rank = 0;
    std::int32_t processId = 0;
    std::int32_t exitStatus = 0;
    std::int32_t signal = 0;  // 0: it exited by itself

    [[nodiscard]] bool abnormal() const { return exitStatus != 0 || signal != 0; }
};

// A rank that stops because another is gone exits with this, so that it is not taken for the cause.
inline constexpr int kPeerLostStatus = 1;

// The one of several ends that explains the others: a signal before a status, kPeerLostStatus last,
// then the earliest.
[[nodiscard]] const ChildEnd& likeliestCause(const std::vector<ChildEnd>& abnormal);
// "rank 2 (pid 123) was killed by signal 9 (Killed)", "rank 2 (pid 123) exited with status 3".
[[nodiscard]] std::string describe(const ChildEnd& end);

struct LaunchRequest {
    std::string program;                 // path to execute
    std::vector<std::string> arguments;  // argv, the program's name included
    std::int32_t worldSize = 1;
};

// Runs all ranks to their end and returns the exit status: 0, the status of the rank that failed
// first, or 128 + its signal. SIGINT and SIGTERM are passed on to the ranks, which are then waited
// for. `say` gets lines for stderr.
[[nodiscard]] base::Result<int> launchRanks(const LaunchRequest& request,
                                            const std::function<void(std::string_view)>& say);

}  // namespace pleat::runtime
