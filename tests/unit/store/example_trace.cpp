#include "unit/store/example_trace.h"

#include <string>
#include <utility>

#include "trace/trace_builder.h"

namespace pleat::test {
namespace {

using schedule::ActionKind;
using trace::EventId;

base::Interval at(std::int64_t begin, std::int64_t end) { return {{begin}, {end}}; }

struct Lanes {
    trace::LaneId compute0, link0, compute1;
};

Lanes addRanks(trace::TraceBuilder& builder) {
    const auto rank0 = builder.addRank(
        {0, {0, 0, 0, -1, -1}, "node-a", 4711, "pleat-train", "cpu", trace::ProcessEnd::Exited});
    const auto rank1 = builder.addRank({1,
                                        {0, 1, 0, -1, -1},
                                        "node-b",
                                        4712,
                                        "pleat-train",
                                        "cuda:1",
                                        trace::ProcessEnd::Killed,
                                        base::Duration{12'000}});
    builder.addRank({-1, {}, "node-a", 4700, "sh", "", trace::ProcessEnd::Unknown});
    return {builder.addLane({rank0, trace::LaneKind::HostThread, 4711, "main"}),
            builder.addLane({rank0, trace::LaneKind::DeviceStream, 7, ""}),
            builder.addLane({rank1, trace::LaneKind::HostThread, 4712, "main"})};
}

// Events 0 … 8, in the order of the trace.
void addEvents(trace::TraceBuilder& builder, const Lanes& lanes) {
    const auto add = [&](trace::LaneId lane, const char* name, base::Interval span,
                         std::string_view arguments = {}, const char* domain = "pleat",
                         trace::EventKind kind = trace::EventKind::Range,
                         trace::EventFlag flag = trace::EventFlag::None) {
        const bool named = *domain != '\0';
        builder.addEvent({lane, builder.intern(name),
                          named ? builder.intern(domain) : base::StringId(), kind, flag, span},
                         arguments);
    };
    add(lanes.compute0, "iteration", at(0, 1000), R"({"iteration":3})");             // 0
    add(lanes.compute0, "data", at(0, 50));                                          // 1
    add(lanes.compute0, "0F0", at(100, 300), R"({"iteration":3,"microbatch":0})");   // 2
    add(lanes.compute0, "0B0", at(700, 900));                                        // 3
    add(lanes.compute0, "note", at(950, 950), {}, "", trace::EventKind::Mark);       // 4
    add(lanes.link0, "0SEND_F0", at(300, 420), R"({"bytes":64})", "pleat.comm");     // 5
    add(lanes.link0, "0REDUCE_GRAD", at(850, 990), {}, "pleat.comm");                // 6
    add(lanes.compute1, "1RECV_F0", at(200, 420), R"({"bytes":64})", "pleat.comm");  // 7
    add(lanes.compute1, "1F0", at(430, 600), {}, "pleat", trace::EventKind::Range,
        trace::EventFlag::OpenAtEnd);  // 8
    builder.addDependency(2, 5, trace::DependencyKind::Launch);
    builder.addDependency(5, 7, trace::DependencyKind::Flow);
}

trace::Annotations annotations() {
    using trace::Dimension, trace::Operation, trace::PhaseKind, trace::RankId, trace::TransferId;
    const RankId rank0(0), rank1(1);
    trace::Annotations made;
    made.tasks.push({rank0, EventId(2), 3, 0, 0, 0, ActionKind::Forward, at(100, 300)});
    made.tasks.push({rank0, EventId(3), 3, 0, 0, 0, ActionKind::FullBackward, at(700, 900)});
    made.tasks.push({rank1, EventId(8), 3, 1, 0, 0, ActionKind::Forward, at(430, 600)});
    made.phases.push_back({rank0, EventId(1), 3, PhaseKind::DataLoading, at(0, 50)});
    made.iterations.push_back({rank0, EventId(0), 3, at(0, 1000)});
    const auto link = made.groups.push({12, Dimension::Pp, 2, {rank0, rank1}});
    const auto replicas = made.groups.push({13, Dimension::Dp, 0, {rank0}});
    const auto match = made.matches.push({{TransferId(0), TransferId(2)}, {300}, rank0, true});
    made.transfers.push({rank0, EventId(5), 3, 0, 0, 0, Operation::Send, Dimension::Pp, 64, link, 1,
                         0, at(300, 420), match, ActionKind::SendForward});
    made.transfers.push({rank0,
                         EventId(6),
                         3,
                         0,
                         0,
                         -1,
                         Operation::AllReduce,
                         Dimension::Dp,
                         128,
                         replicas,
                         -1,
                         5,
                         at(850, 990),
                         {},
                         ActionKind::ReduceGradient});
    made.transfers.push({rank1, EventId(7), 3, 1, 0, 0, Operation::Receive, Dimension::Pp, 64, link,
                         0, 0, at(200, 420), match, std::nullopt});
    made.schedule = trace::RecognisedSchedule{"gpipe", 2, 1, 1, 2, 0.75, {"1f1b", "folded"}};
    return made;
}

}  // namespace

trace::Trace exampleTrace() {
    trace::TraceBuilder builder;
    const Lanes lanes = addRanks(builder);
    addEvents(builder, lanes);
    const trace::Trace events = std::move(builder).build().trace;
    base::Diagnostics diagnostics;
    diagnostics.add("dropped_event", "thread 4711 at 17 ns", 5);
    diagnostics.add("rank_conflict", "rank 1 was killed");
    diagnostics.add("unmatched_transfer", "");
    return trace::Trace::annotated(events.sharedColumns(), events.ranks(), events.lanes(),
                                   annotations(), diagnostics);
}

}  // namespace pleat::test
