#include "graph/message_style.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "annotate/annotate.h"
#include "trace/trace_builder.h"

namespace pleat {
namespace {

struct Message {
    base::Interval send, receive;
};

// Rank 0 sends one forward message after another to rank 1, each on a lane of its own.
trace::Trace traceWith(const std::vector<Message>& messages) {
    trace::TraceBuilder builder;
    std::vector<trace::RankId> ranks;
    for (std::int32_t number = 0; number < 2; ++number) {
        trace::Rank rank;
        rank.number = number;
        ranks.push_back(builder.addRank(rank));
    }
    std::int64_t thread = 1;
    const auto add = [&](std::size_t rank, const std::string& name, base::Interval span) {
        const trace::LaneId lane =
            builder.addLane({ranks[rank], trace::LaneKind::HostThread, thread++, ""});
        builder.addEvent({lane, builder.intern(name), builder.intern("pleat"),
                          trace::EventKind::Range, trace::EventFlag::None, span});
    };
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const std::string number = std::to_string(i);
        const std::int64_t begin = messages[i].send.begin.ns, end = messages[i].receive.end.ns;
        add(0, "0F" + number, {{begin - 1'000}, {begin}});
        add(0, "0SEND_F" + number, messages[i].send);
        add(1, "1RECV_F" + number, messages[i].receive);
        add(1, "1F" + number, {{end}, {end + 1'000}});
    }
    return annotate::annotate(std::move(builder).build().trace).value();
}

base::Interval at(std::int64_t begin, std::int64_t end) { return {{begin * 1'000}, {end * 1'000}}; }

TEST(MessageStyle, WithoutLateReceivesNothingCanBeTold) {
    EXPECT_FALSE(graph::sendsAreBuffered(traceWith({})));
    EXPECT_FALSE(graph::sendsAreBuffered(
        traceWith({{at(100, 200), at(50, 200)}, {at(300, 400), at(300, 401)}})));
}

TEST(MessageStyle, ASendThatEndsBeforeItsReceiveBeginsIsBuffered) {
    EXPECT_TRUE(graph::sendsAreBuffered(traceWith({{at(100, 200), at(900, 901)}})));
}

// The usual 100 us from the begin of the send, though the receive came 60 us later; with another
// program they count from there.
TEST(MessageStyle, TheUsualTimeRunsFromTheSendOrFromTheReceive) {
    const Message usual{at(100, 200), at(50, 200)};
    EXPECT_TRUE(graph::sendsAreBuffered(traceWith({usual, {at(300, 400), at(360, 401)}})));
    EXPECT_FALSE(graph::sendsAreBuffered(traceWith({usual, {at(300, 460), at(360, 460)}})));
}

// Always as late, so its usual time is not known: it may have waited.
TEST(MessageStyle, ReceiversThatAreAlwaysLateSayNothing) {
    EXPECT_FALSE(graph::sendsAreBuffered(
        traceWith({{at(100, 260), at(160, 260)}, {at(300, 460), at(360, 460)}})));
}

// One message arrives before it was sent: the clocks are wrong, and the early end means nothing.
TEST(MessageStyle, ClocksThatDisagreeAreNoWitness) {
    EXPECT_FALSE(graph::sendsAreBuffered(
        traceWith({{at(100, 200), at(900, 901)}, {at(2'000, 2'100), at(1'000, 1'900)}})));
}

}  // namespace
}  // namespace pleat
