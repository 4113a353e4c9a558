#include "annotate/clock_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <utility>

#include "annotate/clock_fit.h"
#include "annotate/communication.h"

namespace pleat::annotate {
namespace {

using trace::RankId;

// What two ranks' own times say about their clocks.
struct Evidence {
    struct Moment {
        std::int64_t first = 0, second = 0;  // own times of it
    };
    struct Message {
        std::int64_t sent = 0, arrived = 0;
        bool fromFirst = false;
    };
    std::vector<Moment> moments;
    std::vector<Message> messages;
};

// Where `to`'s clock would lie if it were put on the reference's by way of one other rank.
struct Way {
    RankId to;
    ClockCorrection correction;
    friend bool operator<(const Way& a, const Way& b) {  // the queue's top is the least bound
        return std::pair(a.correction.bound, a.to) > std::pair(b.correction.bound, b.to);
    }
};

class Aligner {
  public:
    explicit Aligner(const trace::Trace& trace) : m_trace(trace), m_span(trace.ranks().size()) {}

    std::optional<ClockAlignment> run() {
        gather();
        if (m_evidence.empty()) return std::nullopt;
        if (std::any_of(m_evidence.begin(), m_evidence.end(),
                        [](const auto& entry) { return entry.second.moments.empty(); }))
            measureSpans();
        ClockAlignment alignment;
        alignment.of = base::IdVector<trace::RankTag, ClockCorrection>(m_trace.ranks().size());
        alignment.reference = busiest();
        return spread(alignment) > 0 ? std::optional(std::move(alignment)) : std::nullopt;
    }

  private:
    // Only bounds by messages need it: it looks at every event.
    void measureSpans() {
        std::vector<bool> seen(m_span.size(), false);
        for (std::size_t i = 0; i < m_trace.eventCount(); ++i) {
            const trace::Event event = m_trace.event(trace::EventId::at(i));
            const RankId rank = m_trace.lanes()[event.lane].rank;
            base::Interval& span = m_span[rank];
            if (!seen[rank.index()]) span = event.span;
            seen[rank.index()] = true;
            span = {std::min(span.begin, event.span.begin), std::max(span.end, event.span.end)};
        }
    }

    void gather() {
        for (const trace::Match& match : m_trace.annotations().matches) {
            if (!match.complete || match.members.size() < 2) continue;
            const trace::Transfer& first = transfer(match.members.front());
            const bool message = isMessage(first.operation);
            if (!message && !endsTogether(first.operation, m_trace.name(first.event))) continue;
            for (std::size_t i = 1; i < match.members.size(); ++i) {
                const trace::Transfer& other = transfer(match.members[i]);
                if (other.rank == first.rank) continue;
                Evidence& evidence = m_evidence[{first.rank, other.rank}];
                if (message) {
                    const bool sends = first.operation == trace::Operation::Send;
                    const trace::Transfer& sent = sends ? first : other;
                    const trace::Transfer& arrived = sends ? other : first;
                    evidence.messages.push_back({sent.span.begin.ns, arrived.span.end.ns, sends});
                } else {
                    evidence.moments.push_back({first.span.end.ns, other.span.end.ns});
                }
            }
        }
    }

    [[nodiscard]] const trace::Transfer& transfer(trace::TransferId id) const {
        return m_trace.annotations().transfers[id];
    }

    [[nodiscard]] RankId busiest() const {
        std::map<RankId, std::size_t> anchors;
        for (const auto& [pair, evidence] : m_evidence) {
            anchors[pair.first] += evidence.moments.size() + evidence.messages.size();
            anchors[pair.second] += evidence.moments.size() + evidence.messages.size();
        }
        return std::max_element(anchors.begin(), anchors.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }

    // From the reference along the pairs that share anchors, each rank by the way of the least
    // error; each step adds its own. How many ranks were reached.
    std::size_t spread(ClockAlignment& alignment) {
        std::priority_queue<Way> ways;
        std::size_t reached = 0;
        alignment.of[alignment.reference].anchors = 1;
        addWays(alignment, alignment.reference, ways);
        while (!ways.empty()) {
            const Way way = ways.top();
            ways.pop();
            if (alignment.of[way.to].anchors > 0) continue;
            alignment.of[way.to] = way.correction;
            ++reached;
            addWays(alignment, way.to, ways);
        }
        return reached;
    }

    void addWays(const ClockAlignment& alignment, RankId from,
                 std::priority_queue<Way>& ways) const {
        for (const auto& [pair, evidence] : m_evidence) {
            const bool forward = pair.first == from;
            const RankId to = forward ? pair.second : pair.first;
            if ((!forward && pair.second != from) || alignment.of[to].anchors > 0) continue;
            const auto corrected = [&](std::int64_t time) {
                return static_cast<double>(alignment.corrected(from, {time}).ns);
            };
            const std::optional<ClockLine> line =
                evidence.moments.empty() ? lineOfMessages(evidence, forward, corrected, m_span[to])
                                         : lineOfMoments(evidence, forward, corrected);
            if (!line) continue;
            ClockCorrection correction;
            correction.offset = {static_cast<std::int64_t>(std::llround(line->offset))};
            correction.drift = line->drift;
            correction.origin = {static_cast<std::int64_t>(line->origin)};
            correction.anchors = line->anchors;
            correction.byMessages = evidence.moments.empty();
            correction.bound = alignment.of[from].bound +
                               base::Duration{static_cast<std::int64_t>(std::ceil(line->worst))};
            ways.push({to, correction});
        }
    }

    // `corrected` puts times of the rank that is already related on the reference's clock.
    template <class Corrected>
    static std::optional<ClockLine> lineOfMoments(const Evidence& evidence, bool forward,
                                                  Corrected corrected) {
        std::vector<ClockAnchor> anchors;
        for (const Evidence::Moment& moment : evidence.moments) {
            const auto own = static_cast<double>(forward ? moment.second : moment.first);
            anchors.push_back({own, corrected(forward ? moment.first : moment.second) - own});
        }
        return fitMoments(anchors);
    }

    template <class Corrected>
    static std::optional<ClockLine> lineOfMessages(const Evidence& evidence, bool forward,
                                                   Corrected corrected, base::Interval ownSpan) {
        std::vector<ClockLimit> limits;
        for (const Evidence::Message& message : evidence.messages) {
            const bool toOwn = message.fromFirst == forward;
            const auto own = static_cast<double>(toOwn ? message.arrived : message.sent);
            const double other = corrected(toOwn ? message.sent : message.arrived);
            limits.push_back({own, other - own, toOwn});
        }
        return fitMessages(limits, static_cast<double>(ownSpan.begin.ns),
                           static_cast<double>(ownSpan.end.ns));
    }

    const trace::Trace& m_trace;
    base::IdVector<trace::RankTag, base::Interval> m_span;  // of its events
    std::map<std::pair<RankId, RankId>, Evidence> m_evidence;
};

std::string microseconds(base::Duration time) {
    return fmt::format("{:.1f} us", static_cast<double>(time.ns) / 1'000);
}

}  // namespace

base::Diagnostics saidOfClocks(const trace::Trace& trace,
                               const std::optional<ClockAlignment>& related) {
    base::Diagnostics diagnostics;
    if (!related) {
        diagnostics.add(base::Severity::Error, "clock_unknown",
                        "the files share neither a collective nor messages both ways: how their "
                        "clocks relate is not known, and times of different ranks cannot be "
                        "compared");
        return diagnostics;
    }
    const ClockAlignment& alignment = *related;
    base::Duration worst;
    for (std::size_t i = 0; i < alignment.of.size(); ++i) {
        const RankId id = RankId::at(i);
        const ClockCorrection& correction = alignment.of[id];
        if (correction.anchors == 0) {
            if (trace.ranks()[id].number < 0) continue;
            diagnostics.add(base::Severity::Error, "clock_unknown",
                            fmt::format("rank {} shares neither a collective nor messages both "
                                        "ways with the others: how its "
                                        "clock relates to theirs is not known",
                                        trace.ranks()[id].number));
            continue;
        }
        worst = std::max(worst, correction.bound);
        if (correction.offset.ns == 0 && correction.drift == 0) continue;
        diagnostics.add(
            base::Severity::Info, "clock_corrected",
            fmt::format(
                "rank {}'s clock was put on rank {}'s: {}{}, from {} {}", trace.ranks()[id].number,
                trace.ranks()[alignment.reference].number, microseconds(correction.offset),
                correction.drift == 0 ? std::string()
                                      : fmt::format(" and {:.1f} ppm", correction.drift * 1e6),
                correction.anchors, correction.byMessages ? "messages" : "collectives"));
    }
    diagnostics.add(
        base::Severity::Info, "clock_bound",
        fmt::format("times of different ranks compare to within {}", microseconds(worst)));
    return diagnostics;
}

bool ClockAlignment::corrects() const {
    return std::any_of(of.begin(), of.end(), [](const ClockCorrection& correction) {
        return correction.offset.ns != 0 || correction.drift != 0;
    });
}

base::TraceTime ClockAlignment::corrected(RankId rank, base::TraceTime time) const {
    const ClockCorrection& correction = of[rank];
    const double run = static_cast<double>((time - correction.origin).ns) * correction.drift;
    return time + correction.offset + base::Duration{static_cast<std::int64_t>(std::llround(run))};
}

std::optional<ClockAlignment> alignClocks(const trace::Trace& annotated) {
    return Aligner(annotated).run();
}

trace::Trace withClockBounds(trace::Trace trace, const ClockAlignment& alignment) {
    base::IdVector<trace::RankTag, std::optional<base::Duration>> bounds(trace.ranks().size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const ClockCorrection& correction = alignment.of[RankId::at(i)];
        if (correction.anchors > 0) bounds[RankId::at(i)] = correction.bound;
    }
    return std::move(trace).withClockBounds(bounds);
}

trace::Trace withCorrectedClocks(trace::Trace trace, const ClockAlignment& alignment) {
    base::Diagnostics diagnostics = trace.diagnostics();
    return trace::retimed(
        std::move(trace),
        [&](RankId rank, base::TraceTime time) { return alignment.corrected(rank, time); },
        std::move(diagnostics));
}

}  // namespace pleat::annotate
