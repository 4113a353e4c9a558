#include "trace/trace_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trace/limits.h"

namespace pleat::trace {
namespace {

struct Named {
    std::string name;
    std::int64_t begin = 0, end = 0;
    friend bool operator==(const Named&, const Named&) = default;
};

// A builder with one rank and `lanes` lanes.
struct MadeRun {
    explicit MadeRun(int lanes = 1) {
        const RankId rank = builder.addRank({});
        for (int i = 0; i < lanes; ++i) lane.push_back(builder.addLane({rank, {}, i, {}}));
    }
    void add(int onLane, const Named& event, std::string_view arguments = {},
             std::uint32_t row = 0) {
        builder.addEvent({lane[static_cast<std::size_t>(onLane)],
                          builder.intern(event.name),
                          {},
                          EventKind::Range,
                          EventFlag::None,
                          {{event.begin}, {event.end}}},
                         arguments, row);
    }
    TraceBuilder builder;
    std::vector<LaneId> lane;
};

std::vector<Named> eventsOf(const Trace& trace, LaneId lane) {
    std::vector<Named> events;
    const auto [first, last] = trace.eventsOf(lane);
    for (std::uint32_t i = first.index(); i < last.index(); ++i) {
        const Event event = trace.event(EventId(i));
        EXPECT_EQ(event.lane, lane);
        events.push_back(
            {std::string(trace.name(EventId(i))), event.span.begin.ns, event.span.end.ns});
    }
    return events;
}

TEST(TraceBuilder, GroupsEventsByLaneAndSortsThemByStart) {
    MadeRun run(2);
    run.add(1, {"d", 5, 6});
    run.add(0, {"b", 20, 30});
    run.add(1, {"c", 1, 2});
    run.add(0, {"a", 10, 15});
    const auto built = std::move(run.builder).build();
    EXPECT_EQ(eventsOf(built.trace, run.lane[0]),
              (std::vector<Named>{{"a", 10, 15}, {"b", 20, 30}}));
    EXPECT_EQ(eventsOf(built.trace, run.lane[1]), (std::vector<Named>{{"c", 1, 2}, {"d", 5, 6}}));
    EXPECT_EQ(built.trace.span(), (base::Interval{{1}, {30}}));
}

TEST(TraceBuilder, AnEnclosingRangePrecedesWhatItEncloses) {
    MadeRun run;
    // As a recorder writes them: each range when it ends.
    run.add(0, {"inner", 10, 20});
    run.add(0, {"second inner", 20, 30});
    run.add(0, {"middle", 10, 30});
    run.add(0, {"outer", 10, 40});
    const auto built = std::move(run.builder).build();
    EXPECT_EQ(
        eventsOf(built.trace, run.lane[0]),
        (std::vector<Named>{
            {"outer", 10, 40}, {"middle", 10, 30}, {"inner", 10, 20}, {"second inner", 20, 30}}));
}

TEST(TraceBuilder, EqualEventsKeepTheOrderOfAdding) {
    MadeRun run;
    for (const char* name : {"third", "first", "second"}) run.add(0, {name, 7, 7});
    const auto built = std::move(run.builder).build();
    EXPECT_EQ(eventsOf(built.trace, run.lane[0]),
              (std::vector<Named>{{"third", 7, 7}, {"first", 7, 7}, {"second", 7, 7}}));
}

TEST(TraceBuilder, SaysWhereEachAddedEventWent) {
    MadeRun run(2);
    run.add(1, {"x", 1, 2});
    run.add(0, {"y", 3, 4});
    run.add(0, {"z", 1, 2});
    const auto built = std::move(run.builder).build();
    ASSERT_EQ(built.idOfAdded.size(), 3U);
    EXPECT_EQ(built.trace.name(built.idOfAdded[0]), "x");
    EXPECT_EQ(built.trace.name(built.idOfAdded[1]), "y");
    EXPECT_EQ(built.trace.name(built.idOfAdded[2]), "z");
}

TEST(TraceBuilder, AnEndBeforeTheStartBecomesAnEmptyEventAndIsCounted) {
    MadeRun run;
    run.add(0, {"backwards", 100, 40});
    run.add(0, {"also backwards", 200, 199});
    const auto built = std::move(run.builder).build();
    EXPECT_EQ(eventsOf(built.trace, run.lane[0]),
              (std::vector<Named>{{"backwards", 100, 100}, {"also backwards", 200, 200}}));
    const base::Diagnostic* found = built.trace.diagnostics().find("negative_duration");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->count, 2);
    EXPECT_EQ(found->example,
              "\"backwards\" at 100 ns ends 60 ns before it starts; kept as an empty event");
}

TEST(TraceBuilder, TimesBeyondTheRangeAreKeptAtItsEndAndCounted) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    MadeRun run;
    run.add(0, {"near", 100, 200});
    run.add(0, {"far", 300, kFarthestNs + 1});
    run.builder.shift({}, {kMost});
    run.builder.shift({}, {-kMost});
    const auto built = std::move(run.builder).build();
    EXPECT_EQ(eventsOf(built.trace, run.lane[0]),
              (std::vector<Named>{{"near", -kFarthestNs, -kFarthestNs},
                                  {"far", -kFarthestNs, -kFarthestNs}}));
    EXPECT_EQ(built.trace.diagnostics().find("time_out_of_range")->count, 5);
}

TEST(TraceBuilder, KeepsArgumentsDomainsFlagsAndRowsWithTheirEvent) {
    MadeRun run;
    run.add(0, {"late", 50, 60}, R"({"bytes":1})", 4);
    run.builder.addEvent({run.lane[0],
                          run.builder.intern("early"),
                          run.builder.intern("pleat.comm"),
                          EventKind::Mark,
                          EventFlag::OpenAtEnd,
                          {{10}, {10}}},
                         R"({"peer":3})", 9);
    run.add(0, {"plain", 70, 80}, {}, 7);
    const Trace trace = std::move(run.builder).build().trace;
    ASSERT_EQ(trace.eventCount(), 3U);
    const EventId early(0), late(1), plain(2);
    EXPECT_EQ(trace.arguments(early), R"({"peer":3})");
    EXPECT_EQ(trace.arguments(late), R"({"bytes":1})");
    EXPECT_EQ(trace.arguments(plain), "");
    EXPECT_EQ(trace.domain(early), "pleat.comm");
    EXPECT_EQ(trace.domain(late), "");
    EXPECT_EQ(trace.event(early).kind, EventKind::Mark);
    EXPECT_EQ(trace.event(early).flag, EventFlag::OpenAtEnd);
    EXPECT_EQ(trace.event(late).flag, EventFlag::None);
    EXPECT_EQ(trace.sourceRow(early), 9U);
    EXPECT_EQ(trace.sourceRow(late), 4U);
}

TEST(TraceBuilder, DependenciesFollowTheirEvents) {
    TraceBuilder builder;
    const RankId rank = builder.addRank({});
    const LaneId host = builder.addLane({rank, {}, 1, {}}),
                 stream = builder.addLane({rank, {}, 2, {}});
    const auto add = [&](LaneId lane, std::int64_t start) {
        builder.addEvent({lane,
                          builder.intern("e"),
                          {},
                          EventKind::Range,
                          EventFlag::None,
                          {{start}, {start + 1}}});
    };
    add(stream, 30);  // becomes event 3
    add(stream, 20);  // becomes event 2
    add(host, 2);     // becomes event 1
    add(host, 1);     // becomes event 0
    builder.addDependency(2, 0, DependencyKind::Launch);
    builder.addDependency(3, 1, DependencyKind::Launch);
    builder.addDependency(3, 0, DependencyKind::Flow);
    const Trace trace = std::move(builder).build().trace;
    const auto of = [&](std::uint32_t event) {
        const auto found = trace.dependenciesOf(EventId(event));
        return std::vector<Dependency>(found.begin(), found.end());
    };
    using Found = std::vector<Dependency>;
    EXPECT_EQ(of(2), (Found{{EventId(0), EventId(2), DependencyKind::Launch}}));
    EXPECT_EQ(of(3), (Found{{EventId(0), EventId(3), DependencyKind::Flow},
                            {EventId(1), EventId(3), DependencyKind::Launch}}));
    EXPECT_EQ(of(0), Found{});
}

TEST(TraceBuilder, ATraceWithoutEventsIsATrace) {
    MadeRun run(3);
    const Trace trace = std::move(run.builder).build().trace;
    EXPECT_EQ(trace.eventCount(), 0U);
    EXPECT_TRUE(trace.span().empty());
    for (const LaneId lane : run.lane) EXPECT_TRUE(eventsOf(trace, lane).empty());
}

// Any order of adding gives the order of a plain stable sort by (lane, start, longer first).
void expectSortedLikeStableSort(const std::vector<std::pair<int, Named>>& events, int lanes) {
    MadeRun run(lanes);
    for (const auto& [lane, event] : events) run.add(lane, event);
    const auto built = std::move(run.builder).build();
    for (int lane = 0; lane < lanes; ++lane) {
        std::vector<Named> expected;
        for (const auto& [onLane, event] : events) {
            if (onLane == lane) expected.push_back(event);
        }
        std::stable_sort(expected.begin(), expected.end(), [](const Named& a, const Named& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
        });
        EXPECT_EQ(eventsOf(built.trace, run.lane[static_cast<std::size_t>(lane)]), expected);
    }
}

TEST(TraceBuilder, SortsRandomOrders) {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        std::vector<std::pair<int, Named>> events;
        for (int i = 0; i < 300; ++i) {
            const auto begin = static_cast<std::int64_t>(random() % 100);
            const auto length = static_cast<std::int64_t>(random() % 5);
            events.push_back(
                {static_cast<int>(random() % 3), {std::to_string(i), begin, begin + length}});
        }
        expectSortedLikeStableSort(events, 3);
    }
}

TEST(TraceBuilder, SortsAReversedLane) {
    std::vector<std::pair<int, Named>> events;
    for (std::int64_t i = 500; i > 0; --i) events.push_back({0, {"e", i, i + 1}});
    expectSortedLikeStableSort(events, 1);
}

}  // namespace
}  // namespace pleat::trace
