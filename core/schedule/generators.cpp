#include "schedule/generators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "base/nearest_name.h"
#include "schedule/family.h"
#include "schedule/gradient_sync.h"

namespace pleat::schedule {
namespace {

// Far above any real schedule; keeps a typing error from filling the memory.
constexpr std::int64_t kMaximumActions = 4'000'000;

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

// The families that take a group size, for a message.
std::string withGroup() {
    std::vector<std::string_view> names;
    for (const Family& family : families()) {
        if (family.takesGroup) names.push_back(family.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

base::Result<void> checkParameters(const Family& family, const GeneratorOptions& options) {
    if (family.chunks > 0 && options.chunks != family.chunks) {
        const std::string instead = family.withMoreChunks.empty()
                                        ? ""
                                        : fmt::format("; use {} for more", family.withMoreChunks);
        return usage(
            fmt::format("schedule {} has {} per rank, not {}{}", family.name,
                        family.chunks == 1 ? "one chunk" : fmt::format("{} chunks", family.chunks),
                        options.chunks, instead));
    }
    if (options.group > 0 && !family.takesGroup) {
        return usage(
            fmt::format("schedule {} takes no group size; only {} does", family.name, withGroup()));
    }
    return {};
}

base::Error unknown(std::string_view name) {
    const std::string nearest = base::nearestName(name, scheduleNames());
    return usage(fmt::format("unknown schedule \"{}\"; {}the schedules are {}", name,
                             nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                             fmt::join(scheduleNames(), ", ")));
}

}  // namespace

std::span<const std::string_view> scheduleNames() {
    static const std::vector<std::string_view> kNames = [] {
        std::vector<std::string_view> names;
        for (const Family& family : families()) names.push_back(family.name);
        return names;
    }();
    return kNames;
}

base::Result<Schedule> makeSchedule(std::string_view name, const GeneratorOptions& given) {
    const Family* const family = findFamily(name);
    if (family == nullptr) return unknown(name);
    if (const auto sizes = checkSizes(family->name, given); !sizes) return sizes.error();
    if (const auto fit = checkParameters(*family, given); !fit) return fit.error();
    const GeneratorOptions options = completed(*family, given);
    if (const auto fit = family->check(options); !fit) return fit.error();

    Schedule schedule{
        std::string(family->name), family->place(options), options.microbatches, options.group, {}};
    for (std::int32_t rank = 0; rank < options.ranks; ++rank) {
        schedule.order.push_back(
            withGradientSync(family->makeOrder(options, schedule.placement, rank)));
    }
    return schedule;
}

}  // namespace pleat::schedule
