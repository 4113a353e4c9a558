#include "importers/xla_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "trace/categories.h"

namespace pleat::importers {
namespace {

namespace categories = trace::categories;

constexpr std::string_view kDevice = "/device:";
constexpr std::array<std::string_view, 3> kControlFlow = {"while", "conditional", "call"};

bool isOperations(std::string_view thread) {
    return thread == "XLA Ops" || thread == "Async XLA Ops";
}

// "GPU" and 0 of "/device:GPU:0 (NVIDIA H100)"; -1 without a number.
std::pair<std::string_view, std::int32_t> kindAndNumber(std::string_view process) {
    process.remove_prefix(kDevice.size());
    const std::size_t colon = process.find(':');
    std::int32_t number = -1;
    if (colon != std::string_view::npos) {
        const std::string_view digits = process.substr(colon + 1);
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    }
    return {process.substr(0, colon), number};
}

// An operation that lasts as long as the ones it runs: "while.12", "%conditional.3 = (f32[8]) …".
bool isControlFlow(std::string_view name) {
    if (name.starts_with('%')) name.remove_prefix(1);
    return std::any_of(kControlFlow.begin(), kControlFlow.end(), [&](std::string_view word) {
        return name == word || (name.starts_with(word) && name.size() > word.size() &&
                                (name[word.size()] == '.' || name[word.size()] == ' '));
    });
}

}  // namespace

void XlaLanes::nameProcess(std::string_view pid, std::string_view name) {
    if (!name.starts_with(kDevice)) return;
    m_devices[std::string(pid)].name = name.substr(0, name.find_last_not_of(' ') + 1);
    for (const auto& [thread, threadName] : m_threads)
        if (thread.first == pid) nameThread(pid, thread.second, threadName);
}

void XlaLanes::nameThread(std::string_view pid, std::string_view tid, std::string_view name) {
    const auto device = m_devices.find(std::string(pid));
    if (device == m_devices.end()) {
        m_threads[{std::string(pid), std::string(tid)}] = name;
        return;
    }
    device->second.threads[std::string(tid)] = name;
    device->second.hasStreams |= name.starts_with("Stream #");
    device->second.hasOperations |= isOperations(name);
}

XlaLanes::Role XlaLanes::roleOf(std::string_view pid, std::string_view tid) const {
    const auto device = m_devices.find(std::string(pid));
    if (device == m_devices.end()) return Role::None;
    const auto thread = device->second.threads.find(std::string(tid));
    const std::string_view name =
        thread == device->second.threads.end() ? std::string_view() : thread->second;
    if (name.starts_with("Stream #")) return Role::Work;
    if (isOperations(name) && !device->second.hasStreams) return Role::Work;
    return Role::Cover;
}

std::string_view XlaLanes::categoryOf(Role role, std::string_view event) {
    if (role != Role::Work || isControlFlow(event)) return categories::kDeviceAnnotation;
    if (event.starts_with("Memcpy") || event.starts_with("memcpy")) return categories::kCopy;
    if (event.starts_with("Memset") || event.starts_with("memset")) return categories::kSet;
    return categories::kKernel;
}

void XlaLanes::describe(trace::Rank& rank, std::string_view pid) const {
    const auto device = m_devices.find(std::string(pid));
    if (device == m_devices.end()) return;
    const auto [kind, number] = kindAndNumber(device->second.name);
    if (number < 0) return;
    const bool gpu = kind == "GPU";
    std::string name = gpu ? "cuda" : std::string(kind);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    rank.device = fmt::format("{}:{}", name, number);
    // Ranks without a number are counted by their GPUs; other devices only have their own.
    if (kind == "TPU" && rank.number < 0) rank.number = number;
}

void XlaLanes::noteWithoutWork(base::Diagnostics& diagnostics, std::string_view pid,
                               std::int64_t events) const {
    const auto device = m_devices.find(std::string(pid));
    if (device == m_devices.end() || device->second.hasStreams || device->second.hasOperations)
        return;
    diagnostics.add("device_not_understood",
                    fmt::format("{} has no thread \"XLA Ops\" or \"Stream #…\": events on its "
                                "threads are shown, but not counted as device work",
                                device->second.name),
                    events);
}

}  // namespace pleat::importers
