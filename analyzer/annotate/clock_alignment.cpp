#include "annotate/clock_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "annotate/clock_evidence.h"
#include "annotate/clock_fit.h"

namespace pleat::annotate {
namespace {

using trace::RankId;
using Basis = ClockCorrection::Basis;

// Where `to` would be if it were put on the reference by way of one other clock.
struct Way {
    ClockId to;
    ClockCorrection correction;
    friend bool operator<(const Way& a, const Way& b) {  // the queue's top is the least bound
        return std::pair(a.correction.bound, a.to) > std::pair(b.correction.bound, b.to);
    }
};

base::TraceTime corrected(const ClockCorrection& correction, base::TraceTime time) {
    const double run = static_cast<double>((time - correction.origin).ns) * correction.drift;
    return time + correction.offset + base::Duration{static_cast<std::int64_t>(std::llround(run))};
}

class Aligner {
  public:
    explicit Aligner(const trace::Trace& trace)
        : m_trace(trace),
          m_clocks(gatherClocks(trace)),
          m_span(m_clocks.clocks.size()),
          m_corrections(m_clocks.clocks.size()) {}

    std::optional<ClockAlignment> run() {
        const std::size_t count = m_clocks.clocks.size();
        if (count == 0) return std::nullopt;
        if (std::any_of(m_clocks.evidence.begin(), m_clocks.evidence.end(),
                        [](const auto& entry) { return entry.second.moments.empty(); }))
            measureSpans();
        const ClockId reference = busiest();
        m_corrections[reference].basis = Basis::SameClock;
        if (spread(reference) == 0 && count > 1) return std::nullopt;
        ClockAlignment alignment;
        alignment.reference = m_clocks.clocks[reference].firstRank;
        alignment.clocks = count;
        alignment.diagnostics = m_clocks.diagnostics;
        for (const ClockId clock : m_clocks.of) {
            alignment.of.push(m_corrections[clock]);
            alignment.clock.push(static_cast<std::int32_t>(clock.index()));
        }
        return alignment;
    }

  private:
    // Only bounds by messages need it: it looks at every event.
    void measureSpans() {
        std::vector<bool> seen(m_span.size(), false);
        for (std::size_t i = 0; i < m_trace.eventCount(); ++i) {
            const trace::Event event = m_trace.event(trace::EventId::at(i));
            const ClockId clock = m_clocks.of[m_trace.lanes()[event.lane].rank];
            base::Interval& span = m_span[clock];
            if (!seen[clock.index()]) span = event.span;
            seen[clock.index()] = true;
            span = {std::min(span.begin, event.span.begin), std::max(span.end, event.span.end)};
        }
    }

    // The clock that most communication relates to others; the first one on UTC without any.
    [[nodiscard]] ClockId busiest() const {
        base::IdVector<ClockTag, std::size_t> anchors(m_clocks.clocks.size());
        for (const auto& [pair, evidence] : m_clocks.evidence) {
            const std::size_t count = evidence.moments.size() + evidence.messages.size();
            anchors[pair.first] += count;
            anchors[pair.second] += count;
        }
        const auto rating = [&](std::size_t i) {
            return std::pair(anchors[ClockId::at(i)], m_clocks.clocks[ClockId::at(i)].utc);
        };
        std::size_t best = 0;
        for (std::size_t i = 1; i < anchors.size(); ++i)
            if (rating(i) > rating(best)) best = i;
        return ClockId::at(best);
    }

    // From the reference along the clocks that share anchors, each by the way of the least error;
    // each step adds its own. How many clocks were reached.
    std::size_t spread(ClockId reference) {
        std::priority_queue<Way> ways;
        std::size_t reached = 0;
        addWays(reference, ways);
        while (!ways.empty()) {
            const Way way = ways.top();
            ways.pop();
            if (isReached(way.to)) continue;
            m_corrections[way.to] = way.correction;
            ++reached;
            addWays(way.to, ways);
        }
        return reached;
    }

    [[nodiscard]] bool isReached(ClockId clock) const {
        return m_corrections[clock].basis != Basis::Nothing;
    }

    void addWays(ClockId from, std::priority_queue<Way>& ways) {
        for (const auto& [pair, evidence] : m_clocks.evidence) {
            const bool forward = pair.first == from;
            const ClockId to = forward ? pair.second : pair.first;
            if ((!forward && pair.second != from) || isReached(to)) continue;
            const bool onUtc = m_clocks.clocks[from].utc && m_clocks.clocks[to].utc;
            const auto line = evidence.moments.empty()
                                  ? lineOfMessages(evidence, forward, from, to, onUtc)
                                  : lineOfMoments(evidence, forward, from);
            if (!line) continue;
            ClockCorrection correction;
            correction.offset = {static_cast<std::int64_t>(std::llround(line->offset))};
            correction.drift = line->drift;
            correction.origin = {static_cast<std::int64_t>(line->origin)};
            correction.anchors = line->anchors;
            correction.basis = evidence.moments.empty() ? Basis::Messages : Basis::Collectives;
            correction.bound = m_corrections[from].bound +
                               base::Duration{static_cast<std::int64_t>(std::ceil(line->worst))};
            ways.push({to, correction});
        }
        addWaysOfUtc(from, ways);
    }

    // By UTC all are as far from any one: the first one that is reached leaves the least error.
    void addWaysOfUtc(ClockId from, std::priority_queue<Way>& ways) {
        if (!m_clocks.clocks[from].utc || std::exchange(m_utcReached, true)) return;
        for (std::size_t i = 0; i < m_clocks.clocks.size(); ++i) {
            const ClockId to = ClockId::at(i);
            if (!m_clocks.clocks[to].utc || isReached(to)) continue;
            ClockCorrection correction = m_corrections[from];
            correction.basis = Basis::Utc;
            correction.anchors = 0;
            correction.bound += base::Duration{static_cast<std::int64_t>(kUtcSpreadNs)};
            ways.push({to, correction});
        }
    }

    [[nodiscard]] double onReference(ClockId clock, std::int64_t time_ns) const {
        return static_cast<double>(corrected(m_corrections[clock], {time_ns}).ns);
    }

    [[nodiscard]] std::optional<ClockLine> lineOfMoments(const ClockEvidence& evidence,
                                                         bool forward, ClockId from) const {
        std::vector<ClockAnchor> anchors;
        for (const ClockEvidence::Moment& moment : evidence.moments) {
            const auto own = static_cast<double>(forward ? moment.second : moment.first);
            anchors.push_back(
                {own, onReference(from, forward ? moment.first : moment.second) - own});
        }
        return fitMoments(anchors);
    }

    [[nodiscard]] std::optional<ClockLine> lineOfMessages(const ClockEvidence& evidence,
                                                          bool forward, ClockId from, ClockId to,
                                                          bool onUtc) const {
        std::vector<ClockLimit> limits;
        for (const ClockEvidence::Message& message : evidence.messages) {
            const bool toOwn = message.fromFirst == forward;
            const auto own = static_cast<double>(toOwn ? message.arrived : message.sent);
            const double other = onReference(from, toOwn ? message.sent : message.arrived);
            limits.push_back({own, other - own, toOwn});
        }
        const auto first = static_cast<double>(m_span[to].begin.ns);
        const auto last = static_cast<double>(m_span[to].end.ns);
        return onUtc ? fitMessagesOnUtc(limits, first, last) : fitMessages(limits, first, last);
    }

    const trace::Trace& m_trace;
    const Clocks m_clocks;
    base::IdVector<ClockTag, base::Interval> m_span;  // of its events
    base::IdVector<ClockTag, ClockCorrection> m_corrections;
    bool m_utcReached = false;
};

std::string microseconds(base::Duration time) {
    return fmt::format("{:.1f} us", static_cast<double>(time.ns) / 1'000);
}

std::string restsOn(const ClockCorrection& correction) {
    switch (correction.basis) {
        case Basis::Collectives:
            return fmt::format("{} collective{}", correction.anchors,
                               correction.anchors == 1 ? "" : "s");
        case Basis::Messages:
            return fmt::format("{} message{}", correction.anchors,
                               correction.anchors == 1 ? "" : "s");
        default:
            return "UTC";
    }
}

void sayUnknown(const trace::Rank& rank, base::Diagnostics& diagnostics) {
    diagnostics.add(
        "clock_unknown",
        fmt::format(
            "rank {} shares neither collectives nor messages in both directions with the others, "
            "and the file does not give its host's UTC, so its clock cannot be related to theirs",
            rank.number));
}

void sayCorrected(const trace::Trace& trace, const ClockAlignment& alignment, RankId rank,
                  base::Diagnostics& diagnostics) {
    const ClockCorrection& correction = alignment.of[rank];
    diagnostics.add(
        "clock_corrected",
        fmt::format("rank {}'s clock was aligned to rank {}'s: {}{}, from {}",
                    trace.ranks()[rank].number, trace.ranks()[alignment.reference].number,
                    microseconds(correction.offset),
                    correction.drift == 0 ? std::string()
                                          : fmt::format(" and {:.1f} ppm", correction.drift * 1e6),
                    restsOn(correction)));
}

// Several recordings on one clock: that is known, and worth a word.
void sayShared(const trace::Trace& trace, const ClockAlignment& alignment,
               base::Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < alignment.of.size(); ++i) {
        const trace::Rank& rank = trace.ranks()[RankId::at(i)];
        for (std::size_t j = 0; j < i; ++j) {
            const trace::Rank& before = trace.ranks()[RankId::at(j)];
            if (rank.number < 0 || before.number < 0 ||
                alignment.clock[RankId::at(j)] != alignment.clock[RankId::at(i)] ||
                before.clock.recording == rank.clock.recording)
                continue;
            diagnostics.add(
                "clock_shared",
                fmt::format("ranks {} and {} were recorded on one host{}, so they share a clock",
                            before.number, rank.number,
                            rank.host.empty() ? std::string() : ", " + rank.host));
            break;
        }
    }
}

}  // namespace

base::Diagnostics saidOfClocks(const trace::Trace& trace,
                               const std::optional<ClockAlignment>& related) {
    base::Diagnostics diagnostics;
    if (!related) {
        diagnostics.add("clock_unknown",
                        "the files share neither collectives nor messages in both directions, and "
                        "they do not give UTC, so their clocks cannot be related and times of "
                        "different ranks cannot be compared");
        return diagnostics;
    }
    const ClockAlignment& alignment = *related;
    diagnostics.add(alignment.diagnostics);
    sayShared(trace, alignment, diagnostics);
    if (alignment.clocks < 2) return diagnostics;
    base::Duration worst;
    bool byUtc = false;
    for (std::size_t i = 0; i < alignment.of.size(); ++i) {
        const RankId id = RankId::at(i);
        const ClockCorrection& correction = alignment.of[id];
        if (trace.ranks()[id].number < 0) continue;
        if (correction.basis == Basis::Nothing) {
            sayUnknown(trace.ranks()[id], diagnostics);
            continue;
        }
        worst = std::max(worst, correction.bound);
        byUtc = byUtc || correction.basis == Basis::Utc;
        if (correction.offset.ns != 0 || correction.drift != 0)
            sayCorrected(trace, alignment, id, diagnostics);
    }
    diagnostics.add(
        "clock_bound",
        fmt::format("times of ranks on different clocks are comparable to within {}{}",
                    microseconds(worst),
                    byUtc ? ", because some are related only by their hosts' UTC" : ""));
    return diagnostics;
}

bool ClockAlignment::corrects() const {
    return std::any_of(of.begin(), of.end(), [](const ClockCorrection& correction) {
        return correction.offset.ns != 0 || correction.drift != 0;
    });
}

base::TraceTime ClockAlignment::corrected(RankId rank, base::TraceTime time) const {
    return annotate::corrected(of[rank], time);
}

std::optional<ClockAlignment> alignClocks(const trace::Trace& annotated) {
    return Aligner(annotated).run();
}

trace::Trace withClocks(trace::Trace trace, const ClockAlignment& alignment) {
    base::IdVector<trace::RankTag, trace::Trace::Clock> clocks;
    for (std::size_t i = 0; i < trace.ranks().size(); ++i) {
        const ClockCorrection& correction = alignment.of[RankId::at(i)];
        const bool bounded = alignment.clocks > 1 && correction.basis != Basis::Nothing;
        clocks.push({alignment.clock[RankId::at(i)],
                     bounded ? std::optional(correction.bound) : std::nullopt});
    }
    return std::move(trace).withClocks(clocks);
}

trace::Trace withCorrectedClocks(trace::Trace trace, const ClockAlignment& alignment) {
    base::Diagnostics diagnostics = trace.diagnostics();
    return trace::retimed(
        std::move(trace),
        [&](RankId rank, base::TraceTime time) { return alignment.corrected(rank, time); },
        std::move(diagnostics));
}

}  // namespace pleat::annotate
