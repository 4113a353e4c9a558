// What events mean on the timeline: colours, links, search and steps, on a run whose tasks and
// transfers are annotated.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "timeline/event_links.h"
#include "timeline/event_search.h"
#include "timeline/event_steps.h"
#include "unit/timeline/made_trace.h"

namespace pleat::timeline {
namespace {

using trace::EventId;

// 1F1B on two pipeline ranks, twice.
std::shared_ptr<const trace::Trace> pipelineRun() {
    testing::SyntheticOptions options;
    options.schedule = *schedule::makeSchedule("1f1b", {2, 3, 1, 0});
    options.dp = 2;
    options.iterations = 2;
    options.forward = {base::Duration{1000}};
    options.backward = {base::Duration{2000}};
    auto annotated = annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options)));
    return std::make_shared<const trace::Trace>(std::move(annotated).value());
}

TEST(EventColours, EveryTaskOfAMicrobatchHasOneColourAndOthersAnother) {
    const auto trace = pipelineRun();
    WorkerPool pool(2);
    const EventColours colours(*trace, ColourMode::Microbatch, pool);
    ASSERT_FALSE(trace->annotations().tasks.empty());
    for (const trace::Task& a : trace->annotations().tasks)
        for (const trace::Task& b : trace->annotations().tasks)
            EXPECT_EQ(colours[a.event] == colours[b.event], a.microbatch == b.microbatch);
    ASSERT_EQ(colours.legend().size(), 3U);
    EXPECT_EQ(colours.legend()[2].text, "microbatch 2");
}

TEST(EventColours, StagesKindsAndDimensionsAreToldApart) {
    const auto trace = pipelineRun();
    WorkerPool pool(2);
    const EventColours stages(*trace, ColourMode::Stage, pool);
    EXPECT_EQ(stages.legend().size(), 2U);
    const EventColours kinds(*trace, ColourMode::Kind, pool);
    std::set<std::string> texts;
    for (const LegendEntry& entry : kinds.legend()) texts.insert(entry.text);
    for (const char* text :
         {"forward", "backward", "send, receive", "collective", "optimizer", "data loading"})
        EXPECT_TRUE(texts.contains(text)) << text;
    const EventColours dimensions(*trace, ColourMode::Dimension, pool);
    ASSERT_EQ(dimensions.legend().size(), 2U);
    EXPECT_EQ(dimensions.legend()[0].text, "pp");
    EXPECT_EQ(dimensions.legend()[1].text, "dp");
}

TEST(EventColours, DeviceWorkTakesTheColourOfTheTaskThatCalledIt) {
    MadeTrace made;
    const trace::RankId rank = made.addRank(0);
    const trace::LaneId host = made.addLane(rank, {});
    const trace::LaneId device = made.addLane(rank, {}, trace::LaneKind::DeviceStream);
    const auto task = made.add(host, {100, 200, "task"});
    const auto inside = made.add(host, {150, 160, "launch"});
    const auto outside = made.add(host, {250, 260, "launch"});
    const auto gemm = made.add(device, {500, 600, "gemm", "kernel"});
    const auto other = made.add(device, {700, 800, "gemm", "kernel"});
    const auto reduce = made.add(device, {900, 950, "ncclAllReduce", "kernel"});
    made.builder.addDependency(inside, gemm, trace::DependencyKind::Launch);
    made.builder.addDependency(outside, other, trace::DependencyKind::Launch);
    made.builder.addDependency(inside, reduce, trace::DependencyKind::Launch);
    auto built = std::move(made.builder).build();
    const auto id = [&](std::size_t added) { return built.idOfAdded[added]; };
    trace::Annotations annotations;
    annotations.tasks.push({rank, id(task), 0, 1, 0, 4, schedule::ActionKind::Forward, {}});
    const trace::Trace trace = trace::Trace::annotated(
        built.trace.sharedColumns(), built.trace.ranks(), built.trace.lanes(), annotations, {});
    WorkerPool pool(1);
    const EventColours colours(trace, ColourMode::Kind, pool);
    EXPECT_EQ(colours[id(gemm)], colours[id(task)]);
    EXPECT_NE(colours[id(other)], colours[id(task)]);
    EXPECT_EQ(colours[id(other)], colours[id(reduce)]);
}

TEST(EventColours, ANameHasOneColourInEveryTrace) {
    WorkerPool pool(1);
    const auto first = oneLane({{0, 1, "gemm"}, {2, 3, "softmax"}, {4, 5, "gemm"}});
    const auto second = oneLane({{0, 1, "softmax"}});
    const EventColours a(*first, ColourMode::Name, pool), b(*second, ColourMode::Name, pool);
    EXPECT_EQ(a[EventId(0)], a[EventId(2)]);
    EXPECT_EQ(a[EventId(1)], b[EventId(0)]);
    EXPECT_GT(a[EventId(0)], 0);
}

// As if all annotations were looked at for every event.
TEST(EventRoles, AreTheFirstTaskAndTransferRecordedAsTheEvent) {
    trace::Annotations found;
    // Not in the order of events, one event twice, and one item without an event.
    for (const std::uint32_t event : {7U, 3U, 9U, 3U, 0U}) {
        trace::Task task;
        task.event = EventId(event);
        found.tasks.push(task);
        trace::Transfer transfer;
        transfer.event = EventId(9 - event);
        found.transfers.push(transfer);
    }
    found.tasks.push({});
    const EventRoles roles(found);
    const auto naive = [](const auto& items, EventId event) {
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[items.idAt(i)].event == event) return items.idAt(i);
        return typename std::decay_t<decltype(items)>::IdType();
    };
    for (std::uint32_t event = 0; event < 12; ++event) {
        EXPECT_EQ(roles.tasks.of(EventId(event)), naive(found.tasks, EventId(event))) << event;
        EXPECT_EQ(roles.transfers.of(EventId(event)), naive(found.transfers, EventId(event)));
    }
    EXPECT_EQ(roles.tasks.of(EventId()), trace::TaskId());
    EXPECT_EQ(roles.tasks.within(EventId(3), EventId(9)).size(), 3U);
    EXPECT_EQ(roles.tasks.within(EventId(4), EventId(7)).size(), 0U);
}

TEST(EventLinks, ASendLeadsToItsReceive) {
    const auto trace = pipelineRun();
    const EventLinks links(*trace);
    std::size_t messages = 0;
    for (const trace::Transfer& transfer : trace->annotations().transfers) {
        if (transfer.operation != trace::Operation::Receive) continue;
        const std::vector<Arrow> into = links.arrowsInto(transfer.event);
        ASSERT_EQ(into.size(), 1U);
        EXPECT_EQ(into[0].kind, ArrowKind::Message);
        EXPECT_EQ(links.arrowsOutOf(into[0].from), into);
        EXPECT_EQ(links.partners(transfer.event).size(), 2U);
        EXPECT_TRUE(links.arrowsInto(into[0].from).empty());
        ++messages;
    }
    EXPECT_GT(messages, 0U);
}

TEST(EventLinks, TheLastMemberOfACollectiveLeadsToTheOthers) {
    const auto trace = pipelineRun();
    const EventLinks links(*trace);
    std::size_t collectives = 0;
    for (const trace::Match& match : trace->annotations().matches) {
        const trace::Transfer& first = trace->annotations().transfers[match.members[0]];
        if (trace::isMessage(first.operation)) continue;
        ++collectives;
        EXPECT_EQ(links.partners(first.event).size(), match.members.size());
        std::size_t arrows = 0;
        for (const trace::TransferId member : match.members)
            arrows += links.arrowsInto(trace->annotations().transfers[member].event).size();
        EXPECT_EQ(arrows, match.members.size() - 1);
    }
    EXPECT_GT(collectives, 0U);
}

TEST(EventLinks, WhatIsNoTransferHasNoPartners) {
    const auto trace = pipelineRun();
    const EventLinks links(*trace);
    const EventId task = trace->annotations().tasks[trace::TaskId(0)].event;
    EXPECT_TRUE(links.partners(task).empty());
    EXPECT_FALSE(links.transferOf(task).valid());
}

TEST(EventLinks, ArrowsInViewAreCountedWhereThereAreTooMany) {
    MadeTrace made;
    const trace::RankId rank = made.addRank(0);
    const trace::LaneId host = made.addLane(rank, {});
    const trace::LaneId device = made.addLane(rank, {}, trace::LaneKind::DeviceStream);
    for (std::int64_t i = 0; i < 1000; ++i) {
        const auto call = made.add(host, {i * 10, i * 10 + 5});
        const auto kernel = made.add(device, {i * 10 + 100, i * 10 + 105});
        made.builder.addDependency(call, kernel, trace::DependencyKind::Launch);
    }
    const auto trace = made.build();
    const EventLinks links(*trace);
    const std::vector<trace::LaneId> lanes = {host, device};
    const ArrowsShown all = links.arrowsWithin(lanes, {{0}, {20'000}}, 5000);
    EXPECT_EQ(all.arrows.size(), 1000U);
    EXPECT_EQ(all.left, 0U);
    const ArrowsShown some = links.arrowsWithin(lanes, {{0}, {20'000}}, 70);
    EXPECT_EQ(some.arrows.size(), 70U);
    EXPECT_EQ(some.left, 930U);
    EXPECT_LT(trace->event(some.arrows.front().to).span.begin.ns, 300);
    EXPECT_GT(trace->event(some.arrows.back().to).span.begin.ns, 9'000);
    const ArrowsShown few = links.arrowsWithin(lanes, {{100}, {130}}, 70);
    EXPECT_EQ(few.arrows.size(), 3U);
    EXPECT_TRUE(links.arrowsWithin({}, {{0}, {20'000}}, 70).arrows.empty());
}

TEST(EventLinks, MessagesInViewAreFound) {
    const auto trace = pipelineRun();
    const EventLinks links(*trace);
    std::vector<trace::LaneId> lanes;
    for (std::size_t i = 0; i < trace->lanes().size(); ++i) lanes.push_back(trace::LaneId::at(i));
    std::size_t expected = 0;
    for (const trace::Transfer& transfer : trace->annotations().transfers)
        expected += links.arrowsInto(transfer.event).size();
    const ArrowsShown shown = links.arrowsWithin(lanes, trace->span(), 100'000);
    EXPECT_EQ(shown.arrows.size(), expected);
    EXPECT_EQ(links.arrowsWithin(lanes, trace->span(), 5).left, expected - 5);
}

TEST(EventSearch, FindsTextInEitherCaseByTime) {
    MadeTrace made;
    const trace::RankId rank = made.addRank(0);
    made.addLane(rank, {{50, 60, "Gemm_large"}, {70, 80, "softmax"}});
    made.addLane(rank, {{10, 20, "my gemm"}, {90, 95, "GEMM"}});
    const auto trace = made.build();
    WorkerPool pool(2);
    const auto hits = searchEvents(*trace, {SearchBy::Text, "gemm"}, 10, pool);
    ASSERT_TRUE(hits.ok());
    EXPECT_EQ(hits->count, 3U);
    std::vector<std::string> names;
    for (const EventId event : hits->events) names.emplace_back(trace->name(event));
    EXPECT_EQ(names, (std::vector<std::string>{"my gemm", "Gemm_large", "GEMM"}));
    const auto two = searchEvents(*trace, {SearchBy::Text, "gemm"}, 2, pool);
    EXPECT_EQ(two->count, 3U);
    EXPECT_EQ(two->events, (std::vector<EventId>{hits->events[0], hits->events[1]}));
    EXPECT_EQ(searchEvents(*trace, {SearchBy::Text, ""}, 10, pool)->count, 0U);
    EXPECT_EQ(searchEvents(*trace, {SearchBy::Text, "absent"}, 10, pool)->count, 0U);
}

TEST(EventSearch, OfManyHitsKeepsTheEarliest) {
    std::mt19937 random(10);
    const auto trace = oneLane(randomEvents(Shape::Crossing, 5000, random));
    WorkerPool pool(2);
    const auto all = searchEvents(*trace, {SearchBy::Text, "event"}, 100'000, pool);
    const auto some = searchEvents(*trace, {SearchBy::Text, "event"}, 100, pool);
    ASSERT_EQ(all->events.size(), 5000U);
    EXPECT_EQ(some->count, 5000U);
    EXPECT_TRUE(std::equal(some->events.begin(), some->events.end(), all->events.begin()));
}

TEST(EventSearch, ReadsExpressionsAndSaysWhatIsWrongWithThem) {
    const auto trace = oneLane({{0, 1, "layer_12_forward"}, {2, 3, "layer_x"}});
    WorkerPool pool(1);
    const auto hits = searchEvents(*trace, {SearchBy::Expression, "^LAYER_\\d+"}, 10, pool);
    ASSERT_TRUE(hits.ok());
    EXPECT_EQ(hits->count, 1U);
    const auto wrong = searchEvents(*trace, {SearchBy::Expression, "layer("}, 10, pool);
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.error().message.find("character 6"), std::string::npos)
        << wrong.error().message;
}

TEST(EventSearch, AnExpressionThatWouldTakeForeverIsGivenUpAndCounted) {
    const auto trace = oneLane({{0, 1, std::string(10'000, 'a')}, {2, 3, "aab"}});
    WorkerPool pool(1);
    const auto hits = searchEvents(*trace, {SearchBy::Expression, "^(a+)+[bc]$"}, 10, pool);
    ASSERT_TRUE(hits.ok());
    EXPECT_EQ(hits->count, 1U);
    EXPECT_EQ(hits->undecided, 1U);
}

TEST(EventSearch, FindsWhatBelongsToAMicrobatch) {
    const auto trace = pipelineRun();
    WorkerPool pool(1);
    const auto hits = searchEvents(*trace, parseQuery("mb:1"), 1000, pool);
    ASSERT_TRUE(hits.ok());
    std::size_t expected = 0;
    for (const auto& task : trace->annotations().tasks) expected += task.microbatch == 1 ? 1 : 0;
    for (const auto& one : trace->annotations().transfers) expected += one.microbatch == 1 ? 1 : 0;
    EXPECT_EQ(hits->count, expected);
    EXPECT_FALSE(searchEvents(*trace, parseQuery("mb:one"), 10, pool).ok());
}

TEST(EventSearch, WhatIsTypedSaysHowToSearch) {
    EXPECT_EQ(parseQuery("gemm").by, SearchBy::Text);
    EXPECT_EQ(parseQuery("/ge+mm/").by, SearchBy::Expression);
    EXPECT_EQ(parseQuery("/ge+mm/").text, "ge+mm");
    EXPECT_EQ(parseQuery("/").text, "/");
    EXPECT_EQ(parseQuery("microbatch:7").text, "7");
}

TEST(EventSteps, GoToTheNextOfTheSameNameAndColour) {
    const auto trace = oneLane({{0, 1, "a"}, {2, 3, "b"}, {4, 5, "a"}, {6, 7, "b"}});
    WorkerPool pool(1);
    const EventColours colours(*trace, ColourMode::Name, pool);
    EXPECT_EQ(stepBySameName(*trace, EventId(0), Direction::Forward), EventId(2));
    EXPECT_EQ(stepBySameName(*trace, EventId(2), Direction::Backward), EventId(0));
    EXPECT_FALSE(stepBySameName(*trace, EventId(2), Direction::Forward).valid());
    EXPECT_FALSE(stepBySameName(*trace, EventId(0), Direction::Backward).valid());
    EXPECT_EQ(stepBySameColour(*trace, colours, EventId(1), Direction::Forward), EventId(3));
}

}  // namespace
}  // namespace pleat::timeline
