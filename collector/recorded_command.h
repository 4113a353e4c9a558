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

// Blocks the signals that are to be passed on, and ignores a broken pipe and a limit on file sizes:
// neither may end the recorder. The command gets all of them as they were. Called before any thread
// is made, so that all inherit it.
void holdSignals();

struct CommandEnd {
    int exitStatus = 0;  // 126/127 when it could not be started, 128 + signal when it was killed
    bool started = true;
};

// How each process that was waited for ended: the command, and orphans of it. Safe from any thread.
class WaitStatuses {
  public:
    // One that there is no memory for is forgotten.
    void add(pid_t pid, int waited) noexcept;
    // As waitpid gave it.
    [[nodiscard]] std::optional<int> of(pid_t pid) const;

  private:
    mutable std::mutex m_mutex;  // guards m_waited
    std::map<pid_t, int> m_waited;
};

// A command with everything that starting it takes. It is all made here, because a child of a
// process with threads must not allocate before its exec: another thread may have held the lock of
// the allocator when it was forked.
class PreparedCommand {
  public:
    // `environment` is added to this process's own. Found in PATH as a shell finds it.
    PreparedCommand(std::vector<std::string> command,
                    const std::map<std::string, std::string>& environment);
    // It points into itself.
    PreparedCommand(const PreparedCommand&) = delete;
    PreparedCommand& operator=(const PreparedCommand&) = delete;

    // Runs the command to its end. A signal sent to this process is sent on; one that the terminal
    // sent went to the command already. Why it could not be started is said on stderr.
    [[nodiscard]] CommandEnd run(WaitStatuses& statuses) noexcept;

  private:
    [[noreturn]] void become(int report) noexcept;
    [[nodiscard]] CommandEnd notStarted(int error) const noexcept;

    std::vector<std::string> m_words, m_variables;
    std::vector<std::string> m_places;  // where its program may be, in the order they are tried
    // For exec, ended by null. A script without "#!" is run by the shell: "sh PLACE ARGUMENT…".
    std::vector<char*> m_arguments, m_environment;
    std::vector<char*> m_shellArguments;  // the child fills in the place
};

}  // namespace pleat::collector
