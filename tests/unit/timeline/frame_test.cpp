#include "timeline/frame_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "timeline/frame_hit.h"
#include "unit/timeline/made_trace.h"

namespace pleat::timeline {
namespace {

using trace::EventId;
using trace::LaneId;
using trace::RankId;

struct Picture {
    explicit Picture(std::shared_ptr<const trace::Trace> trace)
        : index(std::move(trace), pool),
          tree(index),
          colours(index.trace(), ColourMode::Name, pool) {}
    const Frame& build(const Viewport& viewport, FrameOptions options = {200, 0, 10}) {
        return builder.build(index, tree, viewport, colours, options);
    }
    WorkerPool pool{2};
    LodIndex index;
    LaneTree tree;
    EventColours colours;
    FrameBuilder builder{pool};
};

std::string withoutColours(std::string text) {
    for (std::size_t at = text.find(" colour "); at != std::string::npos;
         at = text.find(" colour ")) {
        std::size_t end = at + 8;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
        text.erase(at, end - at);
    }
    return text;
}

TEST(Frame, DrawsNestedEventsBoxesAndWhatIsNarrower) {
    MadeTrace made;
    const RankId rank = made.addRank(0);
    made.addLane(rank,
                 {{0, 400, "iteration"},
                  {20, 180, "forward"},
                  {210, 390, "backward"},
                  {30, 33, "a"},
                  {34, 36, "b"},
                  {55, 55, "mark", {}, trace::EventKind::Mark}},
                 trace::LaneKind::HostThread, "main");
    Picture picture(made.build());
    const Frame& frame = picture.build({{0}, 10, 50});
    EXPECT_EQ("\n" + withoutColours(frameText(frame, picture.index.trace())), R"(
0 ns, 10 ns/px, 50 x 200 px
y 0 h 22 rank 0
y 26 h 18 rank 0 / main row 0
  box 0..40 iteration
  label 0..40 iteration
y 44 h 18 rank 0 / main row 1
  box 2..18 forward
  box 21..39 backward
  label 2..18 forward
  label 21..39 backward
y 62 h 18 rank 0 / main row 2
  cells 3..4 occupancy 127
  cells 5..6 occupancy 1
)");
}

TEST(Frame, AGapOfAPixelStaysAGapAndAFractionIsOccupancy) {
    Picture picture(oneLane({{0, 104, "a"}, {115, 200, "b"}, {203, 300, "c"}}));
    const Frame& frame = picture.build({{0}, 10, 32}, {200, 0, 100});
    EXPECT_EQ("\n" + withoutColours(frameText(frame, picture.index.trace())), R"(
0 ns, 10 ns/px, 32 x 200 px
y 0 h 22 rank 0
y 26 h 18 rank 0 / thread 1 row 0
  box 0..10 a
  box 12..20 b
  box 20..30 c
  cells 10..11 occupancy 102
  cells 11..12 occupancy 127
)");
}

TEST(Frame, ACollapsedRankShowsTheUnionOfItsWork) {
    MadeTrace made;
    const RankId rank = made.addRank(3);
    const auto stream = trace::LaneKind::DeviceStream;
    made.addLane(rank, {{0, 100, "gemm", "kernel"}, {300, 400, "gemm", "kernel"}}, stream);
    made.addLane(rank, {{50, 150, "copy", "gpu_memcpy"}}, stream);
    Picture picture(made.build());
    picture.tree.setCollapsed(rank, true);
    EXPECT_EQ("\n" + withoutColours(frameText(picture.build({{0}, 10, 50}, {100, 0, 100}),
                                              picture.index.trace())),
              R"(
0 ns, 10 ns/px, 50 x 100 px
y 0 h 22 rank 3, summary
  box 0..10 gemm
  box 10..15 copy
  box 30..40 gemm
)");
}

TEST(Frame, ANanosecondIsABoxAtTheDeepestZoom) {
    Picture picture(oneLane({{5, 6, "one"}, {8, 8, "mark", {}, trace::EventKind::Mark}}));
    EXPECT_EQ("\n" + withoutColours(frameText(picture.build({{0}, 0.5, 40}, {50, 0, 100}),
                                              picture.index.trace())),
              R"(
0 ns, 0.5 ns/px, 40 x 50 px
y 0 h 22 rank 0
y 26 h 18 rank 0 / thread 1 row 0
  box 10..12 one
  cells 16..17 occupancy 1
)");
}

// Whatever the zoom: boxes are what lasts a pixel, everything else is in cells, and busy time is
// never more than there is.
TEST(Frame, ShowsEveryEventAndNoIdleTimeAtEveryZoom) {
    std::mt19937 random(8);
    for (const Shape shape : {Shape::Successive, Shape::Nested, Shape::Crossing}) {
        Picture picture(oneLane(randomEvents(shape, 1500, random)));
        const trace::Trace& trace = picture.index.trace();
        for (const double scale : {0.3, 1.0, 4.4, 25.0, 300.0}) {
            const Frame& frame = picture.build({{2000}, scale, 200}, {5000, 0, 1000});
            for (const FrameRow& row : frame.rows) {
                const RowIndex* events = rowAt(picture.index, row.place);
                if (events == nullptr) continue;
                std::vector<bool> boxed(200, false);
                std::int32_t x = 0;
                for (const Box& box : row.boxes) {
                    ASSERT_LE(x, box.x0);
                    ASSERT_LT(box.x0, box.x1);
                    x = box.x1;
                    std::fill(boxed.begin() + box.x0, boxed.begin() + box.x1, true);
                    ASSERT_GE(trace.event(box.event).span.length().ns,
                              wholeNsPerPixel(frame.viewport));
                }
                ASSERT_LE(x, 200);
                for (std::int32_t c = 0; c < 200; ++c) {
                    const Cell cell = row.cells[static_cast<std::size_t>(c)];
                    const base::Interval column{timeAt(frame.viewport, c),
                                                timeAt(frame.viewport, c + 1)};
                    const Summary summary = events->summarise(column);
                    if (boxed[static_cast<std::size_t>(c)]) {
                        ASSERT_EQ(cell, Cell{});
                    } else if (summary.count == 0) {
                        ASSERT_EQ(cell.occupancy, 0);
                    } else {
                        ASSERT_GE(cell.occupancy, 1);
                        ASSERT_EQ(cell.occupancy == 255, summary.busy >= column.length());
                        ASSERT_EQ(cell.colour, picture.colours[summary.longest]);
                    }
                }
            }
        }
    }
}

TEST(Frame, IsTheSameWhateverWasDrawnBefore) {
    std::mt19937 random(9);
    Picture picture(oneLane(randomEvents(Shape::Nested, 3000, random)));
    for (int i = 0; i < 20; ++i) {
        const Viewport viewport{{i * 300}, 0.5 * (i + 1), 100 + i};
        const FrameOptions options{20 + i * 10, i * 3, 10};
        Picture other(picture.index.sharedTrace());
        EXPECT_EQ(frameText(picture.build(viewport, options), picture.index.trace()),
                  frameText(other.build(viewport, options), picture.index.trace()));
    }
}

// In rows without boxes, which would end a cell early; without the first lane, of which a part is
// exact however late it is.
void expectTrueOfSixteenColumns(const Picture& picture, const Frame& frame) {
    for (const FrameRow& row : frame.rows) {
        const RowIndex* events = rowAt(picture.index, row.place);
        if (events == nullptr || !row.boxes.empty() || row.place.lane.index() == 0) continue;
        for (std::int32_t c = 0; c < frame.viewport.width; ++c) {
            const std::int32_t first = c / 16 * 16,
                               last = std::min(first + 16, frame.viewport.width);
            const Summary summary =
                events->summarise({timeAt(frame.viewport, first), timeAt(frame.viewport, last)});
            const Cell cell = row.cells[static_cast<std::size_t>(c)];
            ASSERT_EQ(cell.occupancy > 0, summary.count > 0);
            if (summary.count > 0) {
                ASSERT_EQ(cell.colour, picture.colours[summary.longest]);
            }
        }
    }
}

TEST(Frame, IsCoarseWhereThereIsNoTimeAndBecomesExact) {
    std::mt19937 random(11);
    MadeTrace made;
    for (int i = 0; i < 6; ++i)
        made.addLane(made.addRank(i), randomEvents(Shape::Successive, 4'000, random));
    Picture picture(made.build()), other(picture.index.sharedTrace());
    const Viewport viewport = fitted(picture.index.span(), 600);
    FrameOptions options{1000, 0, 10};
    const std::string exact = frameText(other.build(viewport, options), picture.index.trace());
    EXPECT_TRUE(other.builder.exact());

    options.deadline = Deadline::min();  // long past
    const Frame& frame = picture.build(viewport, options);
    EXPECT_FALSE(picture.builder.exact());
    EXPECT_NE(frameText(frame, picture.index.trace()), exact);
    expectTrueOfSixteenColumns(picture, frame);
    // Every call gets on, however late it is.
    int calls = 0;
    while (!picture.builder.exact() && calls < 100) {
        picture.builder.refine(Deadline::min());
        ++calls;
    }
    EXPECT_EQ(calls, 6 * 3 - 1);  // tiles of 256 columns, one of them made at first
    EXPECT_EQ(frameText(frame, picture.index.trace()), exact);
}

TEST(Frame, StandsTracesWithLittleOrOddInThem) {
    MadeTrace lanes;
    for (int i = 0; i < 10'000; ++i) lanes.addLane(lanes.addRank(i), {});
    MadeTrace names;
    names.addLane(names.addRank(0), {{0, 100, std::string(10'000, 'x')}, {200, 300, "שלום"}});
    MadeTrace far;
    far.addLane(far.addRank(0), {{1'000'000'000'000'000'000, 1'000'000'000'000'000'001}});
    for (const auto& trace : {MadeTrace().build(), oneLane({}), oneLane({{7, 7}}), lanes.build(),
                              names.build(), far.build()}) {
        Picture picture(trace);
        const Frame& frame = picture.build(fitted(picture.index.span(), 300));
        const std::string text = frameText(frame, *trace);
        EXPECT_EQ(
            text.find(" box ") != std::string::npos || text.find(" cells ") != std::string::npos,
            trace->eventCount() > 0);
    }
}

TEST(FrameHit, HitsWhatIsSeen) {
    Picture picture(oneLane({{0, 100, "a"}, {203, 205, "narrow"}, {300, 400, "b"}}));
    const Frame& frame = picture.build({{0}, 10, 50});
    const trace::Trace& trace = picture.index.trace();
    const auto nameAt = [&](std::int32_t x) {
        const auto hit = hitAt(frame, picture.index, x, 30, 1);
        return hit && hit->event.valid() ? std::string(trace.name(hit->event)) : std::string();
    };
    EXPECT_EQ(nameAt(0), "a");
    EXPECT_EQ(nameAt(9), "a");
    EXPECT_EQ(nameAt(20), "narrow");
    EXPECT_EQ(nameAt(21), "narrow");  // within reach
    EXPECT_EQ(nameAt(39), "b");
    const auto idle = hitAt(frame, picture.index, 25, 30, 1);
    ASSERT_TRUE(idle);
    EXPECT_FALSE(idle->event.valid());
    EXPECT_EQ(idle->idle, (base::Interval{{205}, {300}}));
    EXPECT_EQ(trace.name(idle->before), "narrow");
    EXPECT_EQ(trace.name(idle->after), "b");
}

TEST(FrameHit, OutsideOfRowsNothingIsHit) {
    Picture picture(oneLane({{0, 100, "a"}}));
    const Frame& frame = picture.build({{0}, 10, 50});
    EXPECT_FALSE(hitAt(frame, picture.index, -1, 30));
    EXPECT_FALSE(hitAt(frame, picture.index, 50, 30));
    EXPECT_FALSE(hitAt(frame, picture.index, 5, 190));
    const auto rank = hitAt(frame, picture.index, 5, 5);
    ASSERT_TRUE(rank);
    EXPECT_FALSE(rank->place.lane.valid());
    EXPECT_FALSE(rank->event.valid());
    const auto after = hitAt(frame, picture.index, 40, 30);
    ASSERT_TRUE(after);
    EXPECT_TRUE(after->before.valid());
    EXPECT_FALSE(after->after.valid());
}

}  // namespace
}  // namespace pleat::timeline
