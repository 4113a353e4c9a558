// Small annotated traces written down by hand: what a test of the
// analyses says it is given, without recording or annotating anything.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "graph/measured_graph.h"
#include "trace/trace.h"
#include "trace/trace_builder.h"

namespace pleat::testing {

[[nodiscard]] inline base::Interval at(std::int64_t begin, std::int64_t end) {
    return {{begin}, {end}};
}

class HandBuiltTrace {
  public:
    explicit HandBuiltTrace(std::int32_t ranks) : m_ranks(ranks) {}

    HandBuiltTrace& task(std::uint32_t rank, base::Interval span,
                         schedule::ActionKind kind = schedule::ActionKind::Forward) {
        trace::Task task;
        task.rank = trace::RankId(rank);
        task.iteration = 0;
        task.stage = static_cast<std::int32_t>(rank);
        task.microbatch = 0;
        task.kind = kind;
        task.span = span;
        m_annotations.tasks.push(task);
        return *this;
    }

    HandBuiltTrace& phase(std::uint32_t rank, trace::PhaseKind kind, base::Interval span) {
        m_annotations.phases.push_back({trace::RankId(rank), {}, 0, kind, span});
        return *this;
    }

    struct Member {
        std::uint32_t rank;
        base::Interval span;
    };

    // Members of one communication, matched; ready when the last of them starts.
    HandBuiltTrace& collective(trace::Dimension dimension, const std::vector<Member>& members,
                               std::int32_t chunk = -1) {
        const trace::MatchId match = newMatch(members);
        for (const Member& member : members) {
            trace::Transfer transfer = make(member, trace::Operation::AllReduce, dimension);
            transfer.match = match;
            transfer.chunk = chunk;
            if (chunk >= 0) transfer.action = schedule::ActionKind::ReduceGradient;
            m_annotations.matches[match].members.push_back(m_annotations.transfers.push(transfer));
        }
        return *this;
    }

    HandBuiltTrace& message(const Member& sender, const Member& receiver) {
        const trace::MatchId match = newMatch({sender, receiver});
        for (const bool sends : {true, false}) {
            trace::Transfer transfer = make(
                sends ? sender : receiver,
                sends ? trace::Operation::Send : trace::Operation::Receive, trace::Dimension::Pp);
            transfer.match = match;
            m_annotations.matches[match].members.push_back(m_annotations.transfers.push(transfer));
        }
        return *this;
    }

    HandBuiltTrace& unmatched(trace::Dimension dimension, const Member& member) {
        m_annotations.transfers.push(make(member, trace::Operation::AllReduce, dimension));
        return *this;
    }

    [[nodiscard]] trace::Trace build() const {
        trace::TraceBuilder builder;
        for (std::int32_t i = 0; i < m_ranks; ++i) {
            trace::Rank rank;
            rank.number = i;
            builder.addRank(rank);
        }
        trace::TraceBuilder::Built built = std::move(builder).build();
        return trace::Trace::annotated(built.trace.sharedColumns(), built.trace.ranks(), built.trace.lanes(),
                            m_annotations, {});
    }

  private:
    static trace::Transfer make(const Member& member, trace::Operation operation,
                                trace::Dimension dimension) {
        trace::Transfer transfer;
        transfer.rank = trace::RankId(member.rank);
        transfer.iteration = 0;
        transfer.operation = operation;
        transfer.dimension = dimension;
        transfer.bytes = 100;
        transfer.span = member.span;
        return transfer;
    }

    trace::MatchId newMatch(const std::vector<Member>& members) {
        trace::Match match;
        match.complete = true;
        match.ready = members.front().span.begin;
        match.lastRank = trace::RankId(members.front().rank);
        for (const Member& member : members) {
            if (member.span.begin <= match.ready) continue;
            match.ready = member.span.begin;
            match.lastRank = trace::RankId(member.rank);
        }
        return m_annotations.matches.push(match);
    }

    std::int32_t m_ranks;
    trace::Annotations m_annotations;
};

}  // namespace pleat::testing
