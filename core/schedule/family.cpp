#include "schedule/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "schedule/orders.h"

namespace pleat::schedule {
namespace {

base::Error usage(std::string message) { return {base::ErrorCode::Usage, std::move(message)}; }

base::Result<void> fitsAlways(const GeneratorOptions& /*options*/) { return {}; }

base::Result<void> checkInterleaved(const GeneratorOptions& options) {
    if (options.group < options.ranks) {
        return usage(fmt::format(
            "schedule interleaved: the group size of {} microbatches is smaller than the {} ranks",
            options.group, options.ranks));
    }
    if (options.microbatches < options.ranks) {
        return usage(fmt::format(
            "schedule interleaved needs at least as many microbatches as ranks: {} < {}",
            options.microbatches, options.ranks));
    }
    const std::int32_t rest = options.microbatches % options.group;
    if (rest == 0 || rest >= options.ranks) return {};
    return usage(
        fmt::format("schedule interleaved: {} microbatches in groups of {} leave a last group "
                    "of {}, which is smaller than the {} ranks; choose a multiple of {}",
                    options.microbatches, options.group, rest, options.ranks, options.group));
}

Placement looped(const GeneratorOptions& options) {
    return Placement::looped(options.ranks, options.chunks);
}

// (p-1)(t_f+t_b)/v: fill and drain are one chunk per rank that comes before or after.
double fillAndDrain(const GeneratorOptions& options, const ShareTimes& times) {
    return (options.ranks - 1) * (times.forward + times.backward) / options.chunks;
}

std::int64_t everyChunkOfEveryMicrobatch(const GeneratorOptions& options, std::int32_t /*rank*/) {
    return std::int64_t{options.chunks} * options.microbatches;
}

std::int64_t onePerRankAhead(const GeneratorOptions& options, std::int32_t rank) {
    return std::min(options.ranks - rank, options.microbatches);
}

std::int64_t interleavedPeak(const GeneratorOptions& options, std::int32_t rank) {
    const std::int64_t warmUp =
        std::int64_t{options.chunks - 1} * options.group + 2 * (options.ranks - 1 - rank) + 1;
    return std::min(warmUp, everyChunkOfEveryMicrobatch(options, rank));
}

constexpr std::string_view kOneChunkIdle = "(p-1)(t_f+t_b)";
constexpr std::string_view kChunkedIdle = "(p-1)(t_f+t_b)/v";

std::vector<Family> makeFamilies() {
    std::vector<Family> all;
    all.push_back(
        {"gpipe",
         {},
         1,
         "folded",
         false,
         "",
         "all F, then all B",
         "looped",
         1,
         false,
         {kOneChunkIdle, IdleWindow::Common, fillAndDrain, "M", everyChunkOfEveryMicrobatch},
         "Huang et al. 2019",
         fitsAlways,
         looped,
         gpipeOrder});
    all.push_back(
        {"1f1b",
         {"dapple", "pipedream_flush"},
         1,
         "interleaved",
         false,
         "",
         "min(p-r-1, M) F; F and B in turn; the B left",
         "looped",
         1,
         false,
         {kOneChunkIdle, IdleWindow::Common, fillAndDrain, "min(p-r, M)", onePerRankAhead},
         "Narayanan et al. 2021 (PipeDream-Flush)",
         fitsAlways,
         looped,
         oneForwardOneBackwardOrder});
    all.push_back({"interleaved",
                   {"interleaved1f1b"},
                   0,
                   "",
                   true,
                   "M >= p, g >= p, and the last group has at least p microbatches",
                   "groups of g microbatches, chunk after chunk; 2(p-r-1) + (v-1)g F; F and B in "
                   "turn; the B left",
                   "looped",
                   1,
                   false,
                   {kChunkedIdle, IdleWindow::Common, fillAndDrain,
                    "min((v-1)g + 2(p-1-r) + 1, vM)/v", interleavedPeak},
                   "Narayanan et al. 2021 (Megatron-LM)",
                   checkInterleaved,
                   looped,
                   interleavedOrder});
    all.push_back(
        {"folded",
         {"aiao", "loopedbfs"},
         0,
         "",
         false,
         "",
         "chunk after chunk all F; chunk after chunk backwards all B, last microbatch "
         "first",
         "looped",
         1,
         false,
         {kChunkedIdle, IdleWindow::Common, fillAndDrain, "M", everyChunkOfEveryMicrobatch},
         "Li et al. 2023 (Fold3D)",
         fitsAlways,
         looped,
         foldedOrder});
    return all;
}

bool sameName(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

}  // namespace

std::string_view toString(IdleWindow window) {
    return window == IdleWindow::Common ? "common" : "own span";
}

std::span<const Family> families() {
    static const std::vector<Family> kFamilies = makeFamilies();
    return kFamilies;
}

const Family* findFamily(std::string_view nameOrAlias) {
    for (const Family& family : families()) {
        const auto is = [&](std::string_view name) { return sameName(name, nameOrAlias); };
        if (is(family.name) || std::any_of(family.aliases.begin(), family.aliases.end(), is))
            return &family;
    }
    return nullptr;
}

std::string familyNamesInWords() {
    std::string words;
    for (std::size_t i = 0; i < families().size(); ++i) {
        if (i > 0) words += i + 1 == families().size() ? " or " : ", ";
        words += families()[i].name;
    }
    return words;
}

GeneratorOptions completed(const Family& family, GeneratorOptions options) {
    if (family.takesGroup && options.group == 0) options.group = options.ranks;
    return options;
}

}  // namespace pleat::schedule
