#include "instrumented_runtime/launcher.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

extern char** environ;  // NOLINT: POSIX has no header for it

namespace pleat::runtime {
namespace {

using Clock = std::chrono::steady_clock;
// The ends that follow from one death arrive within moments; waiting this long before naming the
// cause tells them apart.
constexpr std::chrono::milliseconds kSettle{150};
constexpr std::chrono::milliseconds kGrace{2500};  // from SIGTERM to SIGKILL
constexpr std::chrono::milliseconds kPoll{50};

// A port nobody listens on now. Another program may take it before rank 0 does; then rank 0 says so
// and ends.
base::Result<std::uint16_t> freePort() {
    const int handle = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool found = handle >= 0 && ::bind(handle, generic, length) == 0 &&
                       ::getsockname(handle, generic, &length) == 0;
    const int reason = errno;
    if (handle >= 0) ::close(handle);
    if (!found) {
        return base::Error{base::ErrorCode::Io,
                           fmt::format("no free port on 127.0.0.1 for the ranks to meet: {}",
                                       std::strerror(reason))};
    }
    return ntohs(address.sin_port);
}

// The variables a rank sees: ours, with those of torchrun's contract replaced.
std::vector<std::string> rankVariables(std::int32_t rank, std::int32_t worldSize,
                                       std::uint16_t port) {
    const std::map<std::string, std::string> own = {
        {"RANK", std::to_string(rank)},
        {"LOCAL_RANK", std::to_string(rank)},
        {"WORLD_SIZE", std::to_string(worldSize)},
        {"LOCAL_WORLD_SIZE", std::to_string(worldSize)},
        {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", std::to_string(port)},
    };
    std::vector<std::string> variables;
    bool threadsSet = false;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('='));
        threadsSet = threadsSet || name == "OMP_NUM_THREADS";
        if (!own.contains(name)) variables.push_back(text);
    }
    for (const auto& [name, value] : own) variables.push_back(name + "=" + value);
    if (!threadsSet) variables.emplace_back("OMP_NUM_THREADS=1");
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

sigset_t watchedSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set, signal);
    return set;
}

class RankGroup {
  public:
    RankGroup(const LaunchRequest& request, const std::function<void(std::string_view)>& say)
        : m_request(request), m_say(say), m_watched(watchedSignals()) {
        sigprocmask(SIG_BLOCK, &m_watched, &m_previousMask);
    }
    ~RankGroup() { sigprocmask(SIG_SETMASK, &m_previousMask, nullptr); }
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    [[nodiscard]] base::Result<void> start(std::uint16_t port) {
        for (std::int32_t rank = 0; rank < m_request.worldSize; ++rank) {
            if (auto started = startRank(rank, port); !started) {
                signalAll(SIGKILL);
                while (!m_running.empty()) waitForEvent();
                return started;
            }
        }
        return {};
    }

    // Until every rank has ended.
    [[nodiscard]] int watch() {
        while (!m_running.empty()) {
            waitForEvent();
            const auto now = Clock::now();
            if (!m_abnormal.empty() && !m_settleEnd) m_settleEnd = now + kSettle;
            if (m_settleEnd && now >= *m_settleEnd && !m_killAt) stopOthers(now);
            if (m_killAt && now >= *m_killAt) signalAll(SIGKILL);
        }
        if (m_abnormal.empty()) return 0;
        if (!m_killAt && m_forwarded == 0) m_say(describe(likeliestCause(m_abnormal)));
        const ChildEnd& cause = likeliestCause(m_abnormal);
        return cause.signal != 0 ? 128 + cause.signal : cause.exitStatus;
    }

  private:
    [[nodiscard]] base::Result<void> startRank(std::int32_t rank, std::uint16_t port) {
        // All memory is got before the fork: the child may only make system calls until it
        // executes.
        std::vector<std::string> variables = rankVariables(rank, m_request.worldSize, port);
        std::vector<std::string> arguments = m_request.arguments;
        const std::vector<char*> variablePointers = pointers(variables);
        const std::vector<char*> argumentPointers = pointers(arguments);
        const pid_t parent = ::getpid();
        const pid_t child = ::fork();
        if (child == 0) {
            sigprocmask(SIG_SETMASK, &m_previousMask, nullptr);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(127);  // the launcher died before the line above
            ::execve(m_request.program.c_str(), argumentPointers.data(), variablePointers.data());
            ::_exit(127);
        }
        if (child < 0) {
            return base::Error{base::ErrorCode::Io,
                               fmt::format("cannot start rank {}: {}", rank, std::strerror(errno))};
        }
        m_running[child] = rank;
        return {};
    }

    // Sleeps until a signal or a poll interval has passed, then collects every rank that has ended.
    void waitForEvent() {
        const timespec poll{0, std::chrono::nanoseconds(kPoll).count()};
        const int signal = sigtimedwait(&m_watched, nullptr, &poll);
        if (signal == SIGINT || signal == SIGTERM) {
            m_forwarded = signal;
            signalAll(signal);
            if (!m_killAt) m_killAt = Clock::now() + kGrace;
        }
        int status = 0;
        for (pid_t child = ::waitpid(-1, &status, WNOHANG); child > 0;
             child = ::waitpid(-1, &status, WNOHANG)) {
            const auto running = m_running.find(child);
            if (running == m_running.end()) continue;
            const ChildEnd end{running->second, child, WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                               WIFSIGNALED(status) ? WTERMSIG(status) : 0};
            m_running.erase(running);
            // What ends after we began to stop them does so because of us.
            if (end.abnormal() && (!m_killAt || m_abnormal.empty())) m_abnormal.push_back(end);
        }
    }

    void stopOthers(Clock::time_point now) {
        m_killAt = now + kGrace;
        const std::string what = describe(likeliestCause(m_abnormal));
        m_say(m_running.empty() ? what : what + "; stopping the others");
        signalAll(SIGTERM);
    }

    void signalAll(int signal) const {
        for (const auto& [child, rank] : m_running) ::kill(child, signal);
    }

    const LaunchRequest& m_request;
    const std::function<void(std::string_view)>& m_say;
    sigset_t m_watched;
    sigset_t m_previousMask{};
    std::map<pid_t, std::int32_t> m_running;  // rank by process id
    std::vector<ChildEnd> m_abnormal;         // in the order they were collected
    std::optional<Clock::time_point> m_settleEnd, m_killAt;
    int m_forwarded = 0;
};

}  // namespace

const ChildEnd& likeliestCause(const std::vector<ChildEnd>& abnormal) {
    const auto weight = [](const ChildEnd& end) {
        return end.signal != 0 ? 0 : end.exitStatus != kPeerLostStatus ? 1 : 2;
    };
    return *std::min_element(
        abnormal.begin(), abnormal.end(),
        [&](const ChildEnd& a, const ChildEnd& b) { return weight(a) < weight(b); });
}

std::string describe(const ChildEnd& end) {
    if (end.signal != 0) {
        return fmt::format("rank {} (pid {}) was killed by signal {} ({})", end.rank, end.processId,
                           end.signal, ::strsignal(end.signal));
    }
    return fmt::format("rank {} (pid {}) exited with status {}", end.rank, end.processId,
                       end.exitStatus);
}

base::Result<int> launchRanks(const LaunchRequest& request,
                              const std::function<void(std::string_view)>& say) {
    const auto port = freePort();
    if (!port) return port.error();
    RankGroup group(request, say);
    if (auto started = group.start(*port); !started) return started.error();
    return group.watch();
}

}  // namespace pleat::runtime
