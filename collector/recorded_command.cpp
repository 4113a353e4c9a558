#include "collector/recorded_command.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/say.h"

namespace pleat::collector {
namespace {

// A recorder that nobody listens to any more goes on; what the command makes of a closed pipe is
// its own matter.
struct sigaction s_brokenPipe;

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t heldSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kPassedOn) sigaddset(&set, signal);
    sigaddset(&set, SIGCHLD);
    return set;
}

// In the child: becomes the command; tells the parent why when it cannot.
[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment, int report) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const sigset_t held = heldSignals();
    sigprocmask(SIG_UNBLOCK, &held, nullptr);
    sigaction(SIGPIPE, &s_brokenPipe, nullptr);
    std::vector<char*> arguments;
    for (const std::string& argument : command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    const int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

int statusOf(int waited) {
    return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited);
}

int waitFor(pid_t child, WaitStatuses& statuses) {
    const sigset_t held = heldSignals();
    for (;;) {
        int waited = 0;
        // Orphans of the command come to us too (subreaper).
        for (pid_t ended = 0; (ended = waitpid(-1, &waited, WNOHANG)) > 0;) {
            statuses.add(ended, waited);
            if (ended == child) return statusOf(waited);
        }
        siginfo_t info{};
        const int signal = sigwaitinfo(&held, &info);
        if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) kill(child, signal);
    }
}

}  // namespace

void WaitStatuses::add(pid_t pid, int waited) {
    const std::scoped_lock lock(m_mutex);
    m_waited[pid] = waited;
}

std::optional<int> WaitStatuses::of(pid_t pid) const {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_waited.find(pid);
    return found == m_waited.end() ? std::nullopt : std::optional(found->second);
}

void holdSignals() {
    const sigset_t held = heldSignals();
    pthread_sigmask(SIG_BLOCK, &held, nullptr);
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &s_brokenPipe);
}

CommandEnd runCommand(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& environment,
                      WaitStatuses& statuses) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int report[2] = {-1, -1};
    if (pipe2(report, O_CLOEXEC) != 0) {
        base::say(fmt::format("pleat: cannot start {}: {}", command[0], std::strerror(errno)));
        return {126, false};
    }
    const pid_t child = fork();
    if (child == 0) become(command, environment, report[1]);
    close(report[1]);
    int error = child < 0 ? errno : 0;
    if (child > 0) (void)!read(report[0], &error, sizeof error);
    close(report[0]);
    if (error != 0) {
        base::say(fmt::format("pleat: cannot start {}: {}", command[0], std::strerror(error)));
        if (child > 0) waitpid(child, nullptr, 0);
        return {error == ENOENT ? 127 : 126, false};
    }
    return {waitFor(child, statuses), true};
}

}  // namespace pleat::collector
