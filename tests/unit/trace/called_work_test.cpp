#include "trace/called_work.h"

#include <gtest/gtest.h>

#include <utility>

#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace pleat::trace {
namespace {

// A host thread calls kernels out of order, a copy and a collective.
TEST(CalledWork, IsFoundByTheMomentOfItsCall) {
    TraceBuilder builder;
    const RankId rank = builder.addRank({});
    const LaneId host = builder.addLane({rank, LaneKind::HostThread, 1, {}});
    const LaneId stream = builder.addLane({rank, LaneKind::DeviceStream, 7, {}});
    const auto add = [&](LaneId lane, const char* name, std::string_view domain,
                         std::int64_t begin) {
        const std::size_t added = builder.eventCount();
        builder.addEvent({lane,
                          builder.intern(name),
                          builder.intern(domain),
                          EventKind::Range,
                          EventFlag::None,
                          {{begin}, {begin + 5}}});
        return added;
    };
    const auto call = [&](std::int64_t at, std::size_t work) {
        builder.addDependency(add(host, "launch", categories::kRuntimeCall, at), work,
                              DependencyKind::Launch);
    };
    const std::size_t late = add(stream, "gemm", categories::kKernel, 100);
    const std::size_t early = add(stream, "gemm", categories::kKernel, 200);
    const std::size_t copy = add(stream, "copy", categories::kCopy, 300);
    const std::size_t reduce =
        add(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", categories::kKernel, 400);
    call(20, late);
    call(10, early);
    call(30, copy);
    call(25, reduce);
    const auto built = std::move(builder).build();
    const auto id = [&](std::size_t added) { return built.idOfAdded[added]; };
    const CalledWorkIndex index(built.trace);
    EXPECT_TRUE(index.any(rank));
    const auto all = index.within(rank, {{0}, {100}});
    ASSERT_EQ(all.size(), 3U) << "communication has times of its own";
    EXPECT_EQ(all[0].work, id(early));
    EXPECT_EQ(all[1].work, id(late));
    EXPECT_EQ(all[2].work, id(copy));
    EXPECT_EQ(index.within(rank, {{10}, {20}}).size(), 1U) << "the end is not part of a range";
    EXPECT_TRUE(index.within(rank, {{40}, {50}}).empty());
    const CalledWorkIndex kernels(
        built.trace, DeviceWorkKinds(built.trace),
        [](EventId, DeviceWork work) { return work == DeviceWork::Compute; });
    EXPECT_EQ(kernels.within(rank, {{0}, {100}}).size(), 2U);
}

}  // namespace
}  // namespace pleat::trace
