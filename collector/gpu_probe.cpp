#include "collector/gpu_probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace pleat::collector {
namespace {

// From cupti_callbacks.h and cupti_version.h of CUDA 13.0.
using Callback = void (*)(void* userData, int domain, std::uint32_t id, const void* data);
using GetVersion = int (*)(std::uint32_t* version);
using Subscribe = int (*)(void** subscriber, Callback callback, void* userData);
using Unsubscribe = int (*)(void* subscriber);

// cupti_result.h
constexpr int kSuccess = 0;
constexpr int kMaximumReached = 12;  // what an older CUPTI tells a second subscriber
constexpr int kOtherSubscriber = 39;

constexpr const char* kHeld =
    "another tool (usually nsys, ncu or torch.profiler) is using CUPTI, which allows only one; its "
    "trace contains the GPU activity and can be imported";

struct ResultWords {
    int result;
    const char* words;
};

constexpr ResultWords kResultWords[] = {
    {2,
     "CUPTI does not support this device; check LD_LIBRARY_PATH for a libcupti of another CUDA "
     "version than the driver's"},
    {kMaximumReached, kHeld},
    {15,
     "CUPTI cannot reach the CUDA driver; check that nvidia-smi works and that the driver is as "
     "new as CUPTI"},
    {35,
     "no permission to profile GPUs; set NVreg_RestrictProfilingToAdminUsers=0 for the "
     "nvidia kernel module, or run as root"},
    {kOtherSubscriber, kHeld},
    {40, "the hypervisor does not allow profiling its GPUs; ask its administrator"},
    {41, "GPUs in confidential computing mode cannot be profiled; turn the mode off"},
    {43, "this CUPTI cannot profile a MIG device; use a whole GPU"},
    {999, "the NVIDIA driver does not respond; check that nvidia-smi works"},
};

bool otherToolHolds(int result) { return result == kOtherSubscriber || result == kMaximumReached; }

std::string wordsOf(int result, const char* otherTool) {
    const auto* known = std::find_if(std::begin(kResultWords), std::end(kResultWords),
                                     [&](const ResultWords& row) { return row.result == result; });
    std::string words = fmt::format(
        "CUPTI error {}: {}", result,
        known == std::end(kResultWords) ? "see cupti_result.h in the CUDA toolkit" : known->words);
    if (otherToolHolds(result) && otherTool != nullptr)
        words += fmt::format(" (CUDA_INJECTION64_PATH is {})", otherTool);
    return words;
}

void* openCupti() {
    constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    std::vector<std::string> folders = {""};  // the loader's own places first
    const char* const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (const char* home : homes) {
        if (home == nullptr || *home == '\0') continue;
        folders.push_back(std::string(home) + "/lib64/");
        folders.push_back(std::string(home) + "/extras/CUPTI/lib64/");
    }
    for (const std::string& folder : folders) {
        for (const char* name : kNames) {
            if (void* library = dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_LOCAL))
                return library;
        }
    }
    return nullptr;
}

std::optional<CuptiFunctions> findCupti() {
    void* library = openCupti();
    if (library == nullptr) return std::nullopt;
    const auto getVersion = reinterpret_cast<GetVersion>(dlsym(library, "cuptiGetVersion"));
    const auto subscribe = reinterpret_cast<Subscribe>(dlsym(library, "cuptiSubscribe"));
    const auto unsubscribe = reinterpret_cast<Unsubscribe>(dlsym(library, "cuptiUnsubscribe"));
    if (getVersion == nullptr || subscribe == nullptr || unsubscribe == nullptr)
        return std::nullopt;
    const Callback ignore = [](void*, int, std::uint32_t, const void*) {};
    return CuptiFunctions{getVersion,
                          [=](void** subscriber) { return subscribe(subscriber, ignore, nullptr); },
                          unsubscribe};
}

// The child: silent, leaves no core file, ends with its parent and at the limit.
// noexcept: nothing may unwind into what the parent was doing.
[[noreturn]] void answer(const GpuProbe::Ask& ask, std::chrono::seconds limit,
                         int answers) noexcept {
    static_assert(std::is_trivially_copyable_v<GpuFacts>, "travels through the pipe as bytes");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0) {
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            dup2(nowhere, standard);
    }
    signal(SIGALRM, SIG_DFL);
    sigset_t alarmOnly;
    sigemptyset(&alarmOnly);
    sigaddset(&alarmOnly, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarmOnly, nullptr);
    alarm(static_cast<unsigned>(limit.count()));
    ask([&](const GpuFacts& facts) { (void)!write(answers, &facts, sizeof facts); });
    _exit(0);
}

}  // namespace

void askCupti(const CuptiFunctions& cupti, GpuFacts& facts, const GpuFactsSink& publish) {
    std::uint32_t version = 0;
    if (cupti.getVersion(&version) == kSuccess) facts.cuptiVersion = version;
    publish(facts);
    void* subscriber = nullptr;
    facts.subscribed = cupti.subscribe(&subscriber);
    if (facts.subscribed == kSuccess) cupti.unsubscribe(subscriber);
    publish(facts);
}

void askMachine(const GpuFactsSink& publish) {
    GpuFacts facts;
    facts.driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
    publish(facts);
    const std::optional<CuptiFunctions> cupti = findCupti();
    facts.cupti = cupti.has_value();
    publish(facts);
    if (cupti) askCupti(*cupti, facts, publish);
}

GpuAvailability gpuAvailability(const GpuFacts& facts, const char* otherTool) {
    if (facts.subscribed == kSuccess) {
        return {"available:not_recorded",
                "Pleat records NVTX, not CUPTI; for GPU activity, import a trace of nsys or "
                "torch.profiler (docs/importing.md)",
                facts.driver};
    }
    if (facts.subscribed) {
        return {fmt::format("unavailable:{}", *facts.subscribed),
                wordsOf(*facts.subscribed, otherTool),
                facts.driver || otherToolHolds(*facts.subscribed)};
    }
    if (facts.cupti == false) {
        return {"unavailable:no_cupti",
                "libcupti was not found; install CUPTI from the CUDA toolkit, or set CUDA_HOME",
                facts.driver};
    }
    return {"unavailable:no_answer",
            fmt::format("CUPTI crashed or did not respond within {} s; check that nvidia-smi works",
                        GpuProbe::kLimit.count()),
            facts.driver};
}

GpuProbe::GpuProbe(const Ask& ask, std::chrono::seconds limit)
    : m_deadline(std::chrono::steady_clock::now() + limit) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    m_child = fork();
    if (m_child == 0) answer(ask, limit, ends[1]);
    close(ends[1]);
    m_answers = ends[0];
}

GpuProbe::~GpuProbe() {
    if (m_answers < 0) return;
    // The child may be waited for already, as any child is while a command runs, and its number be
    // another's; where it still holds its end of the pipe it is itself.
    struct pollfd end = {m_answers, 0, 0};
    if (m_child > 0 && poll(&end, 1, 0) == 0) kill(m_child, SIGKILL);
    close(m_answers);
    // Not waited for longer: a driver may keep it from ending.
    if (m_child > 0) waitpid(m_child, nullptr, WNOHANG);
}

GpuFacts GpuProbe::facts() {
    GpuFacts known;
    while (m_answers >= 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            m_deadline - std::chrono::steady_clock::now());
        struct pollfd ready = {m_answers, POLLIN, 0};
        const int any = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (any < 0 && errno == EINTR) continue;
        if (any <= 0) break;
        // A write of less than PIPE_BUF bytes arrives whole.
        GpuFacts next;
        if (read(m_answers, &next, sizeof next) != sizeof next) break;
        known = next;
    }
    return known;
}

}  // namespace pleat::collector
