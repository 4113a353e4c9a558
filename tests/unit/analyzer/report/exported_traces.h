// Traces for the tests of exports: a small one that shows every kind of thing, and random ones that
// are as odd as a trace can be.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace_builder.h"

namespace pleat::testing {

inline trace::Trace withAnnotations(const trace::Trace& trace, trace::Annotations annotations) {
    return trace::Trace::annotated(trace.sharedColumns(), trace.ranks(), trace.lanes(),
                                   std::move(annotations), trace.diagnostics());
}

// Two ranks: rank 0 computes, launches a kernel and sends to rank 1, which posted its receive
// ahead; two transfers overlap; a range is open at the end; a process that is no rank.
inline trace::Trace smallTrace() {
    trace::TraceBuilder builder;
    std::vector<trace::LaneId> lanes;
    for (int number = 0; number < 2; ++number) {
        trace::Rank rank;
        rank.number = number;
        rank.coordinates = {0, number, 0, 0, 0};
        const trace::RankId id = builder.addRank(rank);
        lanes.push_back(builder.addLane({id, trace::LaneKind::HostThread, 100 + number, "main"}));
        lanes.push_back(builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""}));
    }
    trace::Rank launcher;
    launcher.pid = 4711;
    launcher.program = "pleat-train";
    lanes.push_back(
        builder.addLane({builder.addRank(launcher), trace::LaneKind::HostThread, 4711, ""}));
    const auto add = [&](std::size_t lane, const char* name, const char* domain, std::int64_t start,
                         std::int64_t end, const char* arguments = "",
                         trace::EventFlag flag = trace::EventFlag::None) {
        builder.addEvent({lanes[lane],
                          builder.intern(name),
                          *domain == '\0' ? base::StringId() : builder.intern(domain),
                          start == end ? trace::EventKind::Mark : trace::EventKind::Range,
                          flag,
                          {{start}, {end}}},
                         arguments);
        return builder.eventCount() - 1;
    };
    add(0, "0F0", "pleat.task", 1'000'000, 1'500'250, R"({"iteration":0,"microbatch":0})");
    const std::size_t launch = add(0, "cudaLaunchKernel", "cuda_runtime", 1'000'100, 1'010'000);
    const std::size_t kernel = add(1, "gemm<\"f16\", 4>", "kernel", 1'020'000, 1'400'000);
    const std::size_t send = add(0, "0SEND_F0", "pleat.transfer", 1'500'250, 1'700'000);
    add(0, "step,\n\"end\"", "", 1'600'000, 1'600'000);
    const std::size_t receive = add(2, "1RECV_F0", "pleat.transfer", 1'200'000, 1'700'000);
    add(2, "grads", "", 1'300'000, 1'900'001, R"({"n":1})", trace::EventFlag::OpenAtEnd);
    add(4, "run", "", 1'000'000, 2'000'000, "not JSON");
    builder.addDependency(launch, kernel, trace::DependencyKind::Launch);
    auto [trace, ids] = std::move(builder).build();

    trace::Annotations annotations;
    annotations.tasks.push({trace::RankId(0), ids[0], 0, 0, 0, 0, schedule::ActionKind::Forward,
                            trace.event(ids[0]).span});
    trace::Match match;
    for (const bool sends : {true, false}) {
        trace::Transfer transfer;
        transfer.rank = trace::RankId(sends ? 0 : 1);
        transfer.event = ids[sends ? send : receive];
        transfer.iteration = transfer.microbatch = 0;
        transfer.operation = sends ? trace::Operation::Send : trace::Operation::Receive;
        transfer.dimension = trace::Dimension::Pp;
        transfer.bytes = 4096;
        transfer.match = trace::MatchId(0);
        match.lastRank = transfer.rank;
        match.members.push_back(annotations.transfers.push(transfer));
    }
    annotations.matches.push(match);
    return withAnnotations(trace, std::move(annotations));
}

class RandomTraces {
  public:
    explicit RandomTraces(std::uint32_t seed) : m_random(seed) {}

    trace::Trace make() {
        trace::TraceBuilder builder;
        for (int rank = upTo(3); rank >= 0; --rank) addRank(builder);
        const std::int64_t origin = upTo(1) == 0 ? -1'000'000'000'000 : upTo(5'000);
        const int scale = upTo(1) == 0 ? 12 : 3'000;  // of the times: many ties, or few
        if (!builder.lanes().empty()) {
            for (int events = upTo(120); events > 0; --events) addEvent(builder, origin, scale);
        }
        const int count = static_cast<int>(builder.eventCount());
        for (int n = count == 0 ? 0 : upTo(30); n > 0; --n) {
            builder.addDependency(
                pick(count), pick(count),
                upTo(1) == 0 ? trace::DependencyKind::Launch : trace::DependencyKind::Flow);
        }
        const trace::Trace trace = std::move(builder).build().trace;
        return withAnnotations(trace, annotate(trace));
    }

  private:
    int upTo(int most) { return std::uniform_int_distribution<int>(0, most)(m_random); }
    std::size_t pick(int count) { return static_cast<std::size_t>(upTo(count - 1)); }

    void addRank(trace::TraceBuilder& builder) {
        trace::Rank rank;
        rank.number = upTo(3) == 0 ? -1 : upTo(5);
        rank.program = text();
        const trace::RankId id = builder.addRank(rank);
        for (int lanes = upTo(3); lanes > 0; --lanes) {
            builder.addLane(
                {id, upTo(1) == 0 ? trace::LaneKind::HostThread : trace::LaneKind::DeviceStream,
                 upTo(3), upTo(1) == 0 ? text() : std::string()});
        }
    }

    std::string text() {
        std::string result;
        for (int i = upTo(6); i > 0; --i)
            result += static_cast<char>(upTo(1) == 0 ? upTo(255) : 'a' + upTo(3));
        return result;
    }

    void addEvent(trace::TraceBuilder& builder, std::int64_t origin, int scale) {
        static const std::vector<std::string> kArguments = {
            "",  "{}",    R"({"a":1})",      R"({"b":"\u00e9\n","open":0})", R"({ "c" : null })",
            "{", "[1,2]", "{\"a\":\"\xff\"}"};
        const base::TraceTime start{origin + upTo(scale)};
        const bool mark = upTo(5) == 0;
        builder.addEvent({trace::LaneId::at(pick(static_cast<int>(builder.lanes().size()))),
                          builder.intern(text()),
                          upTo(1) == 0 ? base::StringId() : builder.intern(text()),
                          mark ? trace::EventKind::Mark : trace::EventKind::Range,
                          upTo(5) == 0 ? trace::EventFlag::OpenAtEnd : trace::EventFlag::None,
                          {start, start + base::Duration{mark ? 0 : upTo(scale / 2)}}},
                         kArguments[pick(static_cast<int>(kArguments.size()))]);
    }

    trace::Annotations annotate(const trace::Trace& trace) {
        trace::Annotations annotations;
        for (int n = trace.eventCount() == 0 ? 0 : upTo(10); n > 0; --n) {
            trace::Match match;
            for (const auto operation : {trace::Operation::Receive, trace::Operation::Send}) {
                trace::Transfer transfer;
                transfer.operation = operation;
                transfer.event = trace::EventId::at(pick(static_cast<int>(trace.eventCount())));
                transfer.rank = trace.lanes()[trace.event(transfer.event).lane].rank;
                transfer.match = trace::MatchId::at(annotations.matches.size());
                match.lastRank = transfer.rank;
                match.members.push_back(annotations.transfers.push(transfer));
            }
            annotations.matches.push(match);
        }
        return annotations;
    }

    std::mt19937 m_random;
};

}  // namespace pleat::testing
