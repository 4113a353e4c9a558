// The command being recorded: started with the recorder's environment, its signals passed on, its
// status passed back.
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace pleat::collector {

// Blocks the signals that are to be passed on, and ignores a broken pipe. Called before any thread
// is made, so that all inherit it.
void holdSignals();

struct CommandEnd {
    int exitStatus = 0;  // 126/127 when it could not be started, 128 + signal when it was killed
    bool started = true;
};

// How each process that was waited for ended: the command, and orphans of it. Safe from any thread.
class WaitStatuses {
  public:
    void add(pid_t pid, int waited);
    // As waitpid gave it.
    [[nodiscard]] std::optional<int> of(pid_t pid) const;

  private:
    mutable std::mutex m_mutex;  // guards m_waited
    std::map<pid_t, int> m_waited;
};

// Runs the command to its end. A signal sent to this process is sent on; one that the terminal sent
// went to the command already. Why it could not be started is said on stderr.
[[nodiscard]] CommandEnd runCommand(const std::vector<std::string>& command,
                                    const std::map<std::string, std::string>& environment,
                                    WaitStatuses& statuses);

}  // namespace pleat::collector
