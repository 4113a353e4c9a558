#include "trace/model.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace pleat::trace {
namespace {

// Mixing two ids must not compile.
static_assert(!std::is_convertible_v<RankId, LaneId>);
static_assert(!std::is_convertible_v<std::uint32_t, EventId>);
static_assert(!std::is_invocable_v<decltype([](EventId) {}), TaskId>);

template <class Enum, class Parse>
void expectRoundTrip(int count, Parse parse) {
    for (int i = 0; i < count; ++i) {
        const Enum value = static_cast<Enum>(i);
        EXPECT_EQ(parse(toString(value)), value) << toString(value);
    }
    EXPECT_FALSE(parse(""));
    EXPECT_FALSE(parse("SEND"));
}

TEST(Model, EveryWordIsReadBackAsItWasWritten) {
    expectRoundTrip<ProcessEnd>(3, parseProcessEnd);
    expectRoundTrip<LaneKind>(2, parseLaneKind);
    expectRoundTrip<PhaseKind>(2, parsePhaseKind);
    expectRoundTrip<Operation>(10, parseOperation);
    expectRoundTrip<Dimension>(6, parseDimension);
}

TEST(Model, TheWordsAreThoseOfTheSchema) {
    EXPECT_EQ(toString(ProcessEnd::Killed), "killed");
    EXPECT_EQ(toString(LaneKind::DeviceStream), "device_stream");
    EXPECT_EQ(toString(EventKind::Mark), "mark");
    EXPECT_EQ(toString(PhaseKind::DataLoading), "data");
    EXPECT_EQ(toString(Operation::Receive), "recv");
    EXPECT_EQ(toString(Operation::AllToAll), "all_to_all");
    EXPECT_EQ(toString(Dimension::Dp), "dp");
}

TEST(Model, TitlesNameWhatHasNoName) {
    EXPECT_EQ(laneTitle({RankId(0), LaneKind::HostThread, 12, "main"}), "main");
    EXPECT_EQ(laneTitle({RankId(0), LaneKind::HostThread, 12, ""}), "thread 12");
    EXPECT_EQ(laneTitle({RankId(0), LaneKind::DeviceStream, 7, ""}), "stream 7");
    Rank rank;
    rank.pid = 4711;
    EXPECT_EQ(rankTitle(rank), "process 4711");
    rank.program = "torchrun";
    EXPECT_EQ(rankTitle(rank), "process 4711 (torchrun)");
    rank.number = 3;
    EXPECT_EQ(rankTitle(rank), "rank 3");
}

}  // namespace
}  // namespace pleat::trace
