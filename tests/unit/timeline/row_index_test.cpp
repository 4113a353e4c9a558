#include "timeline/row_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "timeline/lod_index.h"
#include "timeline/viewport.h"
#include "unit/timeline/made_trace.h"

namespace pleat::timeline {
namespace {

using trace::EventId;

std::vector<EventId> eventsOf(const RowIndex& row) {
    std::vector<EventId> events;
    for (std::size_t i = 0; i < row.size(); ++i) events.push_back(row.event(i));
    return events;
}

// The definition at the head of row_index.h, word by word.
Summary naive(const trace::Trace& trace, const std::vector<EventId>& row, base::Interval window) {
    Summary summary;
    std::vector<base::Interval> parts;
    EventId frontier;
    std::vector<EventId> counted;
    for (const EventId id : row) {
        const base::Interval span = trace.event(id).span;
        parts.push_back(intersect(span, window));
        if (span.begin < window.begin &&
            (!frontier.valid() || span.end > trace.event(frontier).span.end))
            frontier = id;
        if (span.begin >= window.begin && span.begin < window.end) counted.push_back(id);
    }
    if (frontier.valid() && trace.event(frontier).span.end > window.begin)
        counted.insert(counted.begin(), frontier);
    for (const EventId id : counted)
        if (!summary.longest.valid() ||
            trace.event(id).span.length() > trace.event(summary.longest).span.length())
            summary.longest = id;
    summary.count = static_cast<std::uint32_t>(counted.size());
    summary.busy = base::IntervalSet(parts).total();
    return summary;
}

void expectEqualAtEveryZoom(const trace::Trace& trace, const RowIndex& row) {
    const std::vector<EventId> events = eventsOf(row);
    for (const double scale : {0.4, 1.0, 3.7, 60.0, 900.0, 20'000.0}) {
        const Viewport viewport{{-50}, scale, 64};
        for (const std::int64_t begin : {-50, 1200, 9000}) {
            Viewport at = viewport;
            at.begin = {begin};
            std::vector<base::TraceTime> bounds;
            for (int c = 0; c <= at.width; ++c) bounds.push_back(timeAt(at, c));
            std::vector<Summary> summaries(64);
            RowIndex::Bookmark bookmark = 0;
            row.summarise(bounds, summaries, bookmark);
            for (std::size_t c = 0; c < 64; ++c) {
                const base::Interval window{bounds[c], bounds[c + 1]};
                if (window.empty()) continue;
                ASSERT_EQ(summaries[c], naive(trace, events, window))
                    << window.begin.ns << " to " << window.end.ns;
                ASSERT_EQ(row.summarise(window), summaries[c]);
            }
        }
    }
}

TEST(RowIndex, EqualsTheNaiveAnswerAtEveryZoom) {
    std::mt19937 random(3);
    for (const Shape shape : {Shape::Successive, Shape::Nested, Shape::Crossing}) {
        for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 300U, 5000U}) {
            WorkerPool pool(1);
            const LodIndex index(oneLane(randomEvents(shape, count, random)), pool);
            std::size_t events = 0;
            for (const RowIndex& row : index.rows(trace::LaneId(0))) {
                expectEqualAtEveryZoom(index.trace(), row);
                events += row.size();
            }
            EXPECT_EQ(events, count);
        }
    }
}

TEST(RowIndex, EqualsTheNaiveAnswerWhereEventsOverlap) {
    std::mt19937 random(4);
    for (const std::size_t count : {2U, 17U, 300U, 5000U}) {
        const auto trace = oneLane(randomEvents(Shape::Crossing, count, random));
        const RowIndex row(trace->columns(), trace->eventsOf(trace::LaneId(0)));
        EXPECT_EQ(row.size(), count);
        expectEqualAtEveryZoom(*trace, row);
    }
}

TEST(RowIndex, TellsWhatReachesInFromTheLeft) {
    const auto trace = oneLane({{0, 1000, "long"}, {2000, 2010, "short"}});
    const RowIndex row(trace->columns(), trace->eventsOf(trace::LaneId(0)));
    const Summary middle = row.summarise({{500}, {600}});
    EXPECT_EQ(middle.busy.ns, 100);
    EXPECT_EQ(middle.count, 1U);
    EXPECT_EQ(trace->name(middle.longest), "long");
    EXPECT_EQ(row.summarise({{1000}, {2000}}), Summary{});
}

TEST(RowIndex, IsEmptyWithoutEvents) {
    const auto trace = oneLane({});
    const RowIndex row(trace->columns(), trace->eventsOf(trace::LaneId(0)));
    EXPECT_EQ(row.summarise({{0}, {100}}), Summary{});
    EXPECT_EQ(row.positionAt({5}), 0U);
    EXPECT_FALSE(row.frontierAt({5}).valid());
}

TEST(RowIndex, FindsEveryPieceOfAtLeastALength) {
    std::mt19937 random(5);
    for (const Shape shape : {Shape::Successive, Shape::Crossing}) {
        const auto trace = oneLane(randomEvents(shape, 5000, random));
        const RowIndex row(trace->columns(), trace->eventsOf(trace::LaneId(0)));
        for (const base::Interval window :
             {base::Interval{{-10}, {20'000}}, {{1000}, {1200}}, {{9990}, {9991}}}) {
            for (const std::int64_t minimum : {1, 7, 100, 800}) {
                std::vector<std::pair<std::uint32_t, std::int64_t>> found, expected;
                row.forEachPiece(window, minimum, [&](const Piece& piece) {
                    found.emplace_back(piece.event.index(), piece.shown.begin.ns);
                });
                std::int64_t frontier = std::numeric_limits<std::int64_t>::min();
                for (std::size_t i = 0; i < row.size(); ++i) {
                    const base::Interval span = trace->event(row.event(i)).span;
                    const std::int64_t begin = std::max(span.begin.ns, frontier);
                    const bool within = span.begin < window.end && span.end > window.begin;
                    if (within && span.begin >= window.begin && span.end.ns - begin >= minimum)
                        expected.emplace_back(row.event(i).index(), begin);
                    frontier = std::max(frontier, span.end.ns);
                }
                const EventId before = row.frontierAt(window.begin);
                if (before.valid()) {
                    const base::Interval span = trace->event(before).span;
                    if (span.end > window.begin && span.length().ns >= minimum)
                        expected.insert(expected.begin(), {before.index(), span.begin.ns});
                }
                EXPECT_EQ(found, expected);
            }
        }
    }
}

TEST(RowPlacement, AnEnclosingEventLiesAboveWhatItEncloses) {
    const auto trace = oneLane({{0, 100, "outer"},
                                {10, 50, "middle"},
                                {20, 30, "inner"},
                                {60, 70, "second"},
                                {100, 110, "next"}});
    const RowPlacement placement = placeRows(trace->columns(), trace->eventsOf(trace::LaneId(0)));
    EXPECT_EQ(placement.rows, 3U);
    EXPECT_EQ(placement.rowOf, (std::vector<std::uint8_t>{0, 1, 2, 1, 0}));
}

TEST(RowPlacement, MarksOfOneMomentLieBelowEachOther) {
    const auto mark = trace::EventKind::Mark;
    const auto trace =
        oneLane({{5, 5, "a", {}, mark}, {5, 5, "b", {}, mark}, {5, 5, "c", {}, mark}});
    const RowPlacement placement = placeRows(trace->columns(), trace->eventsOf(trace::LaneId(0)));
    EXPECT_EQ(placement.rows, 3U);
}

TEST(RowPlacement, EventsThatFollowEachOtherNeedOneRowAndNoMemory) {
    std::vector<MadeEvent> events;
    for (std::int64_t i = 0; i < 1000; ++i) events.push_back({i * 10, i * 10 + 10});
    const auto trace = oneLane(events);
    const RowPlacement placement = placeRows(trace->columns(), trace->eventsOf(trace::LaneId(0)));
    EXPECT_EQ(placement.rows, 1U);
    EXPECT_TRUE(placement.rowOf.empty());
}

TEST(LodIndex, RowsOfALaneAreBoundedWhateverOverlaps) {
    std::vector<MadeEvent> events;
    for (std::int64_t i = 0; i < 100'000; ++i) events.push_back({i, 1'000'000 - i});
    WorkerPool pool(2);
    const LodIndex index(oneLane(events), pool);
    const auto rows = index.rows(trace::LaneId(0));
    ASSERT_EQ(rows.size(), kMostRows);
    EXPECT_EQ(rows.back().size(), 100'000 - (kMostRows - 1));
    // Nothing extends the first event of the last row.
    int pieces = 0;
    rows.back().forEachPiece({{0}, {1'000'000}}, 1, [&](const Piece&) { ++pieces; });
    EXPECT_EQ(pieces, 1);
    EXPECT_EQ(rows.back().summarise({{0}, {1'000'000}}).busy.ns,
              1'000'000 - 2 * static_cast<std::int64_t>(kMostRows - 1));
}

TEST(LodIndex, FindsTheRowOfEveryEvent) {
    std::mt19937 random(6);
    WorkerPool pool(2);
    const LodIndex index(oneLane(randomEvents(Shape::Nested, 2000, random)), pool);
    const auto rows = index.rows(trace::LaneId(0));
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t i = 0; i < rows[row].size(); ++i)
            ASSERT_EQ(index.rowOf(rows[row].event(i)), row);
}

TEST(LodIndex, SpansFromTheFirstStartToTheLastEnd) {
    WorkerPool pool(1);
    MadeTrace made;
    const trace::RankId rank = made.addRank(0);
    made.addLane(rank, {{50, 900}, {60, 70}});
    made.addLane(rank, {});
    made.addLane(rank, {{20, 30}});
    EXPECT_EQ(LodIndex(made.build(), pool).span(), (base::Interval{{20}, {900}}));
    EXPECT_EQ(LodIndex(oneLane({}), pool).span(), base::Interval());
}

TEST(LodIndex, TheSummaryOfARankIsTheUnionOfItsDevicesWork) {
    MadeTrace made;
    const trace::RankId rank = made.addRank(0), other = made.addRank(1);
    const auto stream = trace::LaneKind::DeviceStream;
    made.addLane(rank, {{0, 1000, "host"}});
    made.addLane(rank, {{100, 200, "gemm", "kernel"}, {90, 900, "step", "gpu_user_annotation"}},
                 stream);
    made.addLane(rank, {{150, 250, "copy", "gpu_memcpy"}}, stream);
    made.addLane(other, {{0, 600, "outer"}, {100, 200, "inner"}});
    WorkerPool pool(1);
    const LodIndex index(made.build(), pool);
    EXPECT_EQ(index.summary(rank).size(), 2U);
    EXPECT_EQ(index.summary(rank).summarise({{0}, {1000}}).busy.ns, 150);
    EXPECT_EQ(index.summary(other).size(), 1U);
    EXPECT_EQ(index.summary(other).summarise({{0}, {1000}}).busy.ns, 600);
}

TEST(LodIndex, TakesAtMostEightBytesAnEvent) {
    std::mt19937 random(7);
    WorkerPool pool(2);
    for (const Shape shape : {Shape::Successive, Shape::Nested}) {
        const std::size_t count = 50'000;
        std::vector<MadeEvent> events;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); i += 2) {
            events.push_back({i * 100, i * 100 + 90});
            const std::int64_t begin = shape == Shape::Nested ? i * 100 + 10 : i * 100 + 95;
            events.push_back({begin, begin + 20});
        }
        const LodIndex index(oneLane(events), pool);
        EXPECT_LE(static_cast<double>(index.bytes()) / static_cast<double>(count), 8.0);
    }
}

}  // namespace
}  // namespace pleat::timeline
