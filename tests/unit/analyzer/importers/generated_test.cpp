// Generated files of PyTorch's profiler: the importer gives back exactly what was put in.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "support/kineto_generator.h"
#include "trace/categories.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::importers {
namespace {

using testing::KinetoCollective;
using testing::KinetoTruth;

struct Generated {
    std::vector<KinetoTruth> ranks;
    trace::Trace trace;
};

Generated importGenerated(const testing::KinetoOptions& options) {
    const test::TemporaryFolder folder;
    std::vector<KinetoTruth> ranks;
    std::vector<std::filesystem::path> files;
    for (std::int32_t rank = 0; rank < options.ranks; ++rank) {
        files.push_back(folder.file(fmt::format("rank{}.json", rank)));
        std::ofstream out(files.back(), std::ios::binary);
        ranks.push_back(testing::writeKinetoTrace(options, rank, out));
    }
    auto trace = importTraces(files);
    if (!trace) {
        ADD_FAILURE() << trace.error().message;
        return {std::move(ranks), std::move(trace::TraceBuilder()).build().trace};
    }
    return {std::move(ranks), std::move(*trace)};
}

// The value behind a key of a flat JSON object, without quotes.
std::string valueOf(std::string_view arguments, std::string_view key) {
    const std::string quoted = fmt::format("\"{}\":", key);
    const std::size_t at = arguments.find(quoted);
    if (at == std::string_view::npos) return {};
    std::string_view value = arguments.substr(at + quoted.size());
    const char end = value.starts_with('"') ? '"' : ',';
    if (end == '"') value.remove_prefix(1);
    return std::string(value.substr(0, std::min(value.find(end), value.find('}'))));
}

// What the trace says of one rank, in the generator's words.
KinetoTruth foundOf(const trace::Trace& trace, std::int32_t number) {
    namespace categories = trace::categories;
    KinetoTruth found;
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const auto id = trace::EventId::at(i);
        const trace::Event event = trace.event(id);
        const trace::Lane& lane = trace.lanes()[event.lane];
        if (trace.ranks()[lane.rank].number != number) continue;
        const std::string category(trace.domain(id));
        ++found.events[category];
        found.time[category] += event.span.length();
        found.iterations += trace.name(id).starts_with("ProfilerStep#") ? 1 : 0;
        if (!categories::isDeviceWork(category)) continue;
        EXPECT_EQ(lane.kind, trace::LaneKind::DeviceStream);
        if (category == categories::kKernel) ++found.kernels[lane.nativeId];
        for (const trace::Dependency& dependency : trace.dependenciesOf(id)) {
            EXPECT_EQ(dependency.kind, trace::DependencyKind::Launch);
            EXPECT_LT(trace.event(dependency.from).span.end, event.span.begin);
            ++found.launches;
        }
        if (!trace.name(id).starts_with("nccl")) continue;
        const std::string sequence = valueOf(trace.arguments(id), "Seq");
        found.collectives.push_back({valueOf(trace.arguments(id), "Process Group Name"), -1});
        std::from_chars(sequence.data(), sequence.data() + sequence.size(),
                        found.collectives.back().sequence);
    }
    std::sort(found.collectives.begin(), found.collectives.end());
    return found;
}

void expectGivenBack(const Generated& generated) {
    const trace::Trace& trace = generated.trace;
    ASSERT_EQ(trace.ranks().size(), generated.ranks.size());
    EXPECT_TRUE(trace.diagnostics().empty());
    base::Interval span = generated.ranks.front().span;
    std::vector<std::vector<KinetoCollective>> wanted, found;
    for (std::size_t rank = 0; rank < generated.ranks.size(); ++rank) {
        const KinetoTruth& truth = generated.ranks[rank];
        const KinetoTruth back = foundOf(trace, static_cast<std::int32_t>(rank));
        EXPECT_EQ(back.events, truth.events);
        EXPECT_EQ(back.time, truth.time);
        EXPECT_EQ(back.kernels, truth.kernels);
        EXPECT_EQ(back.launches, truth.launches);
        EXPECT_EQ(back.iterations, truth.iterations);
        EXPECT_EQ(back.collectives, truth.collectives);
        wanted.push_back(truth.collectives);
        found.push_back(back.collectives);
        span = {std::min(span.begin, truth.span.begin), std::max(span.end, truth.span.end)};
    }
    EXPECT_EQ(trace.span().length(), span.length());
    EXPECT_GT(testing::matchedCollectives(wanted), 0U);
    EXPECT_EQ(testing::matchedCollectives(found), testing::matchedCollectives(wanted));
}

TEST(GeneratedKineto, ComesBackAsItWasMade) {
    expectGivenBack(importGenerated({.ranks = 4}));
    expectGivenBack(importGenerated({.ranks = 2, .iterations = 1, .operationsPerIteration = 96}));
}

// Files of several pieces, which are read in turn on several threads; many blocks, out of order.
TEST(GeneratedKineto, ComesBackFromSeveralPieces) {
    const auto generated = importGenerated({.ranks = 2,
                                            .iterations = 40,
                                            .operationsPerIteration = 512,
                                            .iterationsPerBlock = 3,
                                            .seed = 7});
    EXPECT_GT(generated.trace.eventCount(), 100'000U);
    expectGivenBack(generated);
}

TEST(GeneratedKineto, TheSameOptionsGiveTheSameText) {
    std::ostringstream first, second, other;
    (void)testing::writeKinetoTrace({.seed = 3}, 1, first);
    (void)testing::writeKinetoTrace({.seed = 3}, 1, second);
    (void)testing::writeKinetoTrace({.seed = 4}, 1, other);
    EXPECT_EQ(first.str(), second.str());
    EXPECT_NE(first.str(), other.str());
}

}  // namespace
}  // namespace pleat::importers
