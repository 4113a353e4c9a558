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
#include <string_view>
#include <utility>

#include "base/exceptions.h"
#include "base/say.h"

namespace pleat::collector {
namespace {

// What the recorder handles otherwise than it found it, and how it found it. A recorder that nobody
// listens to, or whose file may not grow, goes on; and where ended children are ignored, nobody is
// told their status.
struct Disposition {
    int signal;
    void (*handler)(int);
    struct sigaction inherited;
};
Disposition s_dispositions[] = {
    {SIGPIPE, SIG_IGN, {}}, {SIGXFSZ, SIG_IGN, {}}, {SIGCHLD, SIG_DFL, {}}};
sigset_t s_inheritedMask;

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t heldSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kPassedOn) sigaddset(&set, signal);
    sigaddset(&set, SIGCHLD);
    return set;
}

// As execvp looks for it: an empty folder in PATH is the current one.
std::vector<std::string> placesOf(const std::string& program) {
    if (program.empty() || program.find('/') != std::string::npos) return {program};
    const char* path = getenv("PATH");
    std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
    std::vector<std::string> places;
    for (bool more = true; more;) {
        const std::size_t end = rest.find(':');
        const std::string_view folder = rest.substr(0, end);
        places.push_back(std::string(folder.empty() ? "." : folder) + "/" + program);
        more = end != std::string_view::npos;
        if (more) rest.remove_prefix(end + 1);
    }
    return places;
}

std::vector<std::string> variablesWith(const std::map<std::string, std::string>& added) {
    std::vector<std::string> variables;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (!added.contains(std::string(text.substr(0, text.find('=')))))
            variables.emplace_back(text);
    }
    for (const auto& [name, value] : added) variables.push_back(name + "=" + value);
    return variables;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

int statusOf(int waited) {
    return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited);
}

int waitFor(pid_t child, WaitStatuses& statuses) noexcept {
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

void WaitStatuses::add(pid_t pid, int waited) noexcept {
    (void)base::contained([&] {
        const std::scoped_lock lock(m_mutex);
        m_waited[pid] = waited;
    });
}

std::optional<int> WaitStatuses::of(pid_t pid) const {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_waited.find(pid);
    return found == m_waited.end() ? std::nullopt : std::optional(found->second);
}

void holdSignals() {
    const sigset_t held = heldSignals();
    pthread_sigmask(SIG_BLOCK, &held, &s_inheritedMask);
    for (Disposition& disposition : s_dispositions) {
        struct sigaction action = {};
        action.sa_handler = disposition.handler;
        sigaction(disposition.signal, &action, &disposition.inherited);
    }
}

PreparedCommand::PreparedCommand(std::vector<std::string> command,
                                 const std::map<std::string, std::string>& environment)
    : m_words(std::move(command)),
      m_variables(variablesWith(environment)),
      m_places(placesOf(m_words[0])),
      m_arguments(pointersTo(m_words)),
      m_environment(pointersTo(m_variables)),
      m_shellArguments(m_arguments) {
    static char s_shell[] = "sh";
    m_shellArguments.insert(m_shellArguments.begin(), s_shell);
}

// In the child: becomes the command; tells the parent why when it cannot. Only calls that are safe
// in a signal handler.
void PreparedCommand::become(int report) noexcept {
    for (const Disposition& disposition : s_dispositions)
        sigaction(disposition.signal, &disposition.inherited, nullptr);
    sigprocmask(SIG_SETMASK, &s_inheritedMask, nullptr);
    int error = ENOENT;
    for (const std::string& place : m_places) {
        execve(place.c_str(), m_arguments.data(), m_environment.data());
        if (errno == ENOEXEC) {
            m_shellArguments[1] = const_cast<char*>(place.c_str());
            execve("/bin/sh", m_shellArguments.data(), m_environment.data());
        }
        // One that may not be run is the answer only where no other place has the program.
        const bool elsewhere = errno == ENOENT || errno == ENOTDIR;
        if (!elsewhere || m_places.size() == 1) error = errno;
        if (!elsewhere && errno != EACCES) break;
    }
    (void)!write(report, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

CommandEnd PreparedCommand::notStarted(int error) const noexcept {
    (void)base::contained([&] {
        base::say(fmt::format("pleat: cannot start {}: {}", m_words[0], std::strerror(error)));
    });
    return {error == ENOENT ? 127 : 126, false};
}

CommandEnd PreparedCommand::run(WaitStatuses& statuses) noexcept {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int report[2] = {-1, -1};
    if (pipe2(report, O_CLOEXEC) != 0) return notStarted(errno);
    const pid_t child = fork();
    if (child == 0) become(report[1]);
    int error = child < 0 ? errno : 0;
    close(report[1]);
    if (child > 0) (void)!read(report[0], &error, sizeof error);
    close(report[0]);
    if (error == 0) return {waitFor(child, statuses), true};
    if (child > 0) waitpid(child, nullptr, 0);
    return notStarted(error);
}

}  // namespace pleat::collector
