#include "schedule/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest_name.h"
#include "schedule/gradient_sync.h"

namespace pleat::schedule {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"gpipe", "1f1b", "interleaved", "folded"};
// Far above any real schedule; keeps a typing error from filling the memory.
constexpr std::int64_t kMaximumActions = 4'000'000;

struct ChunkOfMicrobatch {
    std::int32_t chunk;
    std::int32_t microbatch;
};

// One rank's list while it is being made.
class RankOrder {
  public:
    RankOrder(const Placement& placement, std::int32_t rank) : m_stages(placement.stagesOf(rank)) {}

    void forward(ChunkOfMicrobatch what) { add(ActionKind::Forward, what); }
    void backward(ChunkOfMicrobatch what) { add(ActionKind::FullBackward, what); }
    [[nodiscard]] const std::vector<Action>& actions() const { return m_actions; }

  private:
    void add(ActionKind kind, ChunkOfMicrobatch what) {
        m_actions.push_back(
            {m_stages[static_cast<std::size_t>(what.chunk)], kind, what.microbatch, {}});
    }
    std::span<const std::int32_t> m_stages;
    std::vector<Action> m_actions;
};

// All forwards, then all backwards in the same order.
void fillGpipe(RankOrder& order, const GeneratorOptions& options) {
    for (std::int32_t m = 0; m < options.microbatches; ++m) order.forward({0, m});
    for (std::int32_t m = 0; m < options.microbatches; ++m) order.backward({0, m});
}

void fillOneForwardOneBackward(RankOrder& order, const GeneratorOptions& options,
                               std::int32_t rank) {
    const std::int32_t warmUp = std::min(options.ranks - rank - 1, options.microbatches);
    for (std::int32_t m = 0; m < warmUp; ++m) order.forward({0, m});
    for (std::int32_t m = warmUp; m < options.microbatches; ++m) {
        order.forward({0, m});
        order.backward({0, m - warmUp});
    }
    for (std::int32_t m = options.microbatches - warmUp; m < options.microbatches; ++m)
        order.backward({0, m});
}

void fillInterleaved(RankOrder& order, const GeneratorOptions& options, std::int32_t rank) {
    std::vector<ChunkOfMicrobatch>
        forwards;  // groups of g microbatches, chunk after chunk within a group
    for (std::int32_t first = 0; first < options.microbatches; first += options.group) {
        const std::int32_t end = std::min(first + options.group, options.microbatches);
        for (std::int32_t chunk = 0; chunk < options.chunks; ++chunk) {
            for (std::int32_t m = first; m < end; ++m) forwards.push_back({chunk, m});
        }
    }
    const auto backward = [&](std::size_t k) {
        order.backward({options.chunks - 1 - forwards[k].chunk, forwards[k].microbatch});
    };
    const std::size_t warmUp =
        std::min(forwards.size(), static_cast<std::size_t>(2 * (options.ranks - rank - 1) +
                                                           (options.chunks - 1) * options.group));
    for (std::size_t k = 0; k < warmUp; ++k) order.forward(forwards[k]);
    for (std::size_t k = warmUp; k < forwards.size(); ++k) {
        order.forward(forwards[k]);
        backward(k - warmUp);
    }
    for (std::size_t k = forwards.size() - warmUp; k < forwards.size(); ++k) backward(k);
}

void fillFolded(RankOrder& order, const GeneratorOptions& options) {
    for (std::int32_t chunk = 0; chunk < options.chunks; ++chunk) {
        for (std::int32_t m = 0; m < options.microbatches; ++m) order.forward({chunk, m});
    }
    for (std::int32_t chunk = options.chunks - 1; chunk >= 0; --chunk) {
        for (std::int32_t m = options.microbatches - 1; m >= 0; --m) order.backward({chunk, m});
    }
}

base::Error usage(std::string message) { return {base::ErrorCode::Usage, std::move(message)}; }

base::Result<void> checkSizes(std::string_view name, const GeneratorOptions& options) {
    if (options.ranks < 1 || options.microbatches < 1 || options.chunks < 1 || options.group < 0) {
        return usage(fmt::format(
            "schedule {}: ranks ({}), microbatches ({}) and chunks ({}) must be at least 1", name,
            options.ranks, options.microbatches, options.chunks));
    }
    if (options.ranks > kMaximumRanks ||
        static_cast<std::int64_t>(options.ranks) * options.chunks > kMaximumStages) {
        return usage(
            fmt::format("schedule {}: {} ranks x {} chunks; at most {} ranks and {} stages "
                        "are supported",
                        name, options.ranks, options.chunks, kMaximumRanks, kMaximumStages));
    }
    if (2.0 * options.ranks * options.microbatches * options.chunks >
        static_cast<double>(kMaximumActions)) {
        return usage(fmt::format(
            "schedule {}: {} ranks x {} chunks x {} microbatches exceed the limit of {} actions",
            name, options.ranks, options.chunks, options.microbatches, kMaximumActions));
    }
    return {};
}

base::Result<void> checkFit(std::string_view name, const GeneratorOptions& options) {
    const bool interleaved = name == "interleaved";
    if (options.chunks > 1 && (name == "gpipe" || name == "1f1b")) {
        return usage(fmt::format("schedule {} has one chunk per rank, not {}; use {} for more",
                                 name, options.chunks, name == "gpipe" ? "folded" : "interleaved"));
    }
    if (options.group > 0 && !interleaved) {
        return usage(fmt::format("schedule {} takes no group size; only interleaved does", name));
    }
    if (interleaved && options.group > 0 && options.group < options.ranks) {
        return usage(fmt::format(
            "schedule interleaved: the group size of {} microbatches is smaller than the {} ranks",
            options.group, options.ranks));
    }
    if (interleaved && options.microbatches < options.ranks) {
        return usage(fmt::format(
            "schedule interleaved needs at least as many microbatches as ranks: {} < {}",
            options.microbatches, options.ranks));
    }
    const std::int32_t group = options.group > 0 ? options.group : options.ranks;
    const std::int32_t rest = options.microbatches % group;
    if (interleaved && rest != 0 && rest < options.ranks) {
        return usage(
            fmt::format("schedule interleaved: {} microbatches in groups of {} leave a last group "
                        "of {}, which is smaller "
                        "than the {} ranks; choose a multiple of {}",
                        options.microbatches, group, rest, options.ranks, group));
    }
    return {};
}

}  // namespace

std::span<const std::string_view> scheduleNames() { return kNames; }

base::Result<Schedule> makeSchedule(std::string_view name, const GeneratorOptions& given) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
        const std::string nearest = base::nearestName(name, kNames);
        return usage(fmt::format(
            "unknown schedule \"{}\"; {}the schedules are gpipe, 1f1b, interleaved, folded", name,
            nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest)));
    }
    if (const auto sizes = checkSizes(name, given); !sizes) return sizes.error();
    if (const auto fit = checkFit(name, given); !fit) return fit.error();
    GeneratorOptions options = given;
    if (name == "interleaved" && options.group == 0) options.group = options.ranks;

    Schedule schedule{std::string(name),
                      Placement::looped(options.ranks, options.chunks),
                      options.microbatches,
                      options.group,
                      {}};
    for (std::int32_t rank = 0; rank < options.ranks; ++rank) {
        RankOrder order(schedule.placement, rank);
        if (name == "gpipe") fillGpipe(order, options);
        if (name == "1f1b") fillOneForwardOneBackward(order, options, rank);
        if (name == "interleaved") fillInterleaved(order, options, rank);
        if (name == "folded") fillFolded(order, options);
        schedule.order.push_back(withGradientSync(order.actions()));
    }
    return schedule;
}

}  // namespace pleat::schedule
