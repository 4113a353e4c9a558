#include "trace/model.h"

#include <fmt/format.h>

#include <array>

#include "trace/limits.h"

namespace pleat::trace {
namespace {

constexpr std::array<std::string_view, 3> kProcessEnds = {"unknown", "exited", "killed"};
constexpr std::array<std::string_view, 2> kLaneKinds = {"host_thread", "device_stream"};
constexpr std::array<std::string_view, 2> kEventKinds = {"range", "mark"};
constexpr std::array<std::string_view, 2> kDependencyKinds = {"launch", "flow"};
constexpr std::array<std::string_view, 2> kPhaseKinds = {"data", "optimizer"};
constexpr std::array<std::string_view, 10> kOperations = {
    "send",      "recv",   "all_reduce", "all_gather", "reduce_scatter",
    "broadcast", "reduce", "all_to_all", "barrier",    "other"};
constexpr std::array<std::string_view, 6> kDimensions = {"pp", "dp", "tp", "ep", "cp", "other"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

template <class Enum, std::size_t N>
std::string_view nameOf(const std::array<std::string_view, N>& names, Enum value) {
    return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string laneTitle(const Lane& lane) {
    if (!lane.name.empty()) return lane.name;
    return fmt::format("{} {}", lane.kind == LaneKind::HostThread ? "thread" : "stream",
                       lane.nativeId);
}

std::string scheduleTitle(const RecognisedSchedule& schedule) {
    std::string title = schedule.name;
    for (std::size_t i = 0; i < schedule.also.size(); ++i)
        title += (i + 1 == schedule.also.size() ? " or " : ", ") + schedule.also[i];
    return title;
}

std::string rankTitle(const Rank& rank) {
    if (rank.number >= 0) {
        return rank.oneOfSeveralDevices ? fmt::format("rank {} {}", rank.number, rank.device)
                                        : fmt::format("rank {}", rank.number);
    }
    return rank.program.empty() ? fmt::format("process {}", rank.pid)
                                : fmt::format("process {} ({})", rank.pid, rank.program);
}

base::Duration clockError(const Rank& first, const Rank& second) {
    if (first.clock.clock == second.clock.clock) return {};
    if (!first.clockBound || !second.clockBound) return base::Duration{kFarthestNs};
    return *first.clockBound + *second.clockBound;
}

std::string_view toString(ProcessEnd end) { return nameOf(kProcessEnds, end); }
std::string_view toString(LaneKind kind) { return nameOf(kLaneKinds, kind); }
std::string_view toString(EventKind kind) { return nameOf(kEventKinds, kind); }
std::string_view toString(DependencyKind kind) { return nameOf(kDependencyKinds, kind); }
std::string_view toString(PhaseKind kind) { return nameOf(kPhaseKinds, kind); }
std::string_view toString(Operation operation) { return nameOf(kOperations, operation); }
std::string_view toString(Dimension dimension) { return nameOf(kDimensions, dimension); }
std::optional<ProcessEnd> parseProcessEnd(std::string_view text) {
    return find<ProcessEnd>(kProcessEnds, text);
}
std::optional<LaneKind> parseLaneKind(std::string_view text) {
    return find<LaneKind>(kLaneKinds, text);
}
std::optional<DependencyKind> parseDependencyKind(std::string_view text) {
    return find<DependencyKind>(kDependencyKinds, text);
}
std::optional<PhaseKind> parsePhaseKind(std::string_view text) {
    return find<PhaseKind>(kPhaseKinds, text);
}
std::optional<Operation> parseOperation(std::string_view text) {
    return find<Operation>(kOperations, text);
}
std::optional<Dimension> parseDimension(std::string_view text) {
    return find<Dimension>(kDimensions, text);
}

}  // namespace pleat::trace
