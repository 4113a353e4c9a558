#include "annotate/clock_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "annotate/communication.h"

namespace pleat::annotate {
namespace {

using trace::RankId;

// How far apart members of one collective end on one clock (measured 1 to 11 us on eight GPUs).
constexpr double kEndSpreadNs = 12'000;
// A drift is taken where it explains the ends this much better than an offset alone.
constexpr double kPlainDrift = 4;
constexpr std::size_t kFewestForDrift = 6;

// One moment seen by two ranks: their own times of it.
struct Anchor {
    double time = 0;        // of the first
    double difference = 0;  // the second's minus the first's
};

struct Line {
    double offset = 0, drift = 0;  // difference = offset + drift * (time - origin)
    double origin = 0;
    double worst = 0;  // largest distance of an anchor
    double root = 0;   // root mean square distance
    std::size_t anchors = 0;
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void measure(Line& line, const std::vector<Anchor>& anchors) {
    double sum = 0;
    line.worst = 0;
    for (const Anchor& anchor : anchors) {
        const double away =
            anchor.difference - line.offset - line.drift * (anchor.time - line.origin);
        line.worst = std::max(line.worst, std::abs(away));
        sum += away * away;
    }
    line.root = std::sqrt(sum / static_cast<double>(anchors.size()));
}

// The median difference, and a drift where it is plain.
Line fit(const std::vector<Anchor>& anchors) {
    Line flat;
    flat.anchors = anchors.size();
    std::vector<double> differences, times;
    for (const Anchor& anchor : anchors) {
        differences.push_back(anchor.difference);
        times.push_back(anchor.time);
    }
    flat.offset = median(differences);
    flat.origin = median(times);
    measure(flat, anchors);
    if (anchors.size() < kFewestForDrift || flat.root <= kEndSpreadNs / 2) return flat;
    // Theil-Sen: the median slope stands a few collectives that did not end together.
    std::vector<double> slopes;
    for (std::size_t i = 0; i < anchors.size(); ++i) {
        const std::size_t step = std::max<std::size_t>(1, anchors.size() / 64);
        for (std::size_t j = i + 1; j < anchors.size(); j += step) {
            const double span = anchors[j].time - anchors[i].time;
            if (span != 0) slopes.push_back((anchors[j].difference - anchors[i].difference) / span);
        }
    }
    if (slopes.empty()) return flat;
    Line sloped = flat;
    sloped.drift = median(slopes);
    std::vector<double> rest;
    for (const Anchor& anchor : anchors)
        rest.push_back(anchor.difference - sloped.drift * (anchor.time - sloped.origin));
    sloped.offset = median(rest);
    measure(sloped, anchors);
    return sloped.root * kPlainDrift < flat.root ? sloped : flat;
}

class Aligner {
  public:
    explicit Aligner(const trace::Trace& trace) : m_trace(trace) {}

    std::optional<ClockAlignment> run() {
        gather();
        if (m_anchors.empty()) return std::nullopt;
        ClockAlignment alignment;
        alignment.of = base::IdVector<trace::RankTag, ClockCorrection>(m_trace.ranks().size());
        alignment.reference = busiest();
        spread(alignment);
        return alignment;
    }

  private:
    void gather() {
        for (const trace::Match& match : m_trace.annotations().matches) {
            if (!match.complete || match.members.size() < 2) continue;
            const trace::Transfer& first = transfer(match.members.front());
            if (!endsTogether(first.operation, m_trace.name(first.event))) continue;
            for (std::size_t i = 1; i < match.members.size(); ++i) {
                const trace::Transfer& other = transfer(match.members[i]);
                if (other.rank == first.rank) continue;
                m_anchors[{first.rank, other.rank}].push_back(
                    {static_cast<double>(first.span.end.ns),
                     static_cast<double>(other.span.end.ns - first.span.end.ns)});
            }
        }
    }

    [[nodiscard]] const trace::Transfer& transfer(trace::TransferId id) const {
        return m_trace.annotations().transfers[id];
    }

    [[nodiscard]] RankId busiest() const {
        std::map<RankId, std::size_t> anchors;
        for (const auto& [pair, list] : m_anchors) {
            anchors[pair.first] += list.size();
            anchors[pair.second] += list.size();
        }
        return std::max_element(anchors.begin(), anchors.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }

    // From the reference along the pairs that share anchors; each step adds its own error.
    void spread(ClockAlignment& alignment) {
        std::deque<RankId> reached = {alignment.reference};
        alignment.of[alignment.reference].anchors = 1;
        while (!reached.empty()) {
            const RankId from = reached.front();
            reached.pop_front();
            for (const auto& [pair, anchors] : m_anchors) {
                const bool forward = pair.first == from;
                const RankId to = forward ? pair.second : pair.first;
                if ((!forward && pair.second != from) || alignment.of[to].anchors > 0) continue;
                correct(alignment, from, to, anchors, forward);
                reached.push_back(to);
            }
        }
    }

    void correct(ClockAlignment& alignment, RankId from, RankId to,
                 const std::vector<Anchor>& anchors, bool forward) {
        // Differences of `to`'s own times to the corrected times of `from`, by `to`'s own time.
        std::vector<Anchor> seen;
        for (const Anchor& anchor : anchors) {
            const double first = anchor.time, second = anchor.time + anchor.difference;
            const double own = forward ? second : first;
            const auto other = static_cast<std::int64_t>(forward ? first : second);
            const double corrected = static_cast<double>(alignment.corrected(from, {other}).ns);
            seen.push_back({own, corrected - own});
        }
        Line line = fit(seen);
        if (line.drift == 0 && std::abs(line.offset) <= kEndSpreadNs) {
            // Within what ends differ by on one clock: nothing to correct.
            line.worst += std::abs(line.offset);
            line.offset = 0;
        }
        ClockCorrection& correction = alignment.of[to];
        correction.offset = {static_cast<std::int64_t>(std::llround(line.offset))};
        correction.drift = line.drift;
        correction.origin = {static_cast<std::int64_t>(line.origin)};
        correction.anchors = line.anchors;
        correction.bound =
            alignment.of[from].bound + base::Duration{static_cast<std::int64_t>(
                                           std::ceil(std::max(line.worst, kEndSpreadNs)))};
    }

    const trace::Trace& m_trace;
    std::map<std::pair<RankId, RankId>, std::vector<Anchor>> m_anchors;
};

std::string microseconds(base::Duration time) {
    return fmt::format("{:.1f} us", static_cast<double>(time.ns) / 1'000);
}

void report(const trace::Trace& trace, const ClockAlignment& alignment,
            base::Diagnostics& diagnostics) {
    base::Duration worst;
    for (std::size_t i = 0; i < alignment.of.size(); ++i) {
        const RankId id = RankId::at(i);
        const ClockCorrection& correction = alignment.of[id];
        if (correction.anchors == 0) {
            if (trace.ranks()[id].number < 0) continue;
            diagnostics.add(base::Severity::Error, "clock_unknown",
                            fmt::format("rank {} shares no collective with the others: how its "
                                        "clock relates to theirs is not known",
                                        trace.ranks()[id].number));
            continue;
        }
        worst = std::max(worst, correction.bound);
        if (correction.offset.ns == 0 && correction.drift == 0) continue;
        diagnostics.add(
            base::Severity::Info, "clock_corrected",
            fmt::format("rank {}'s clock was put on rank {}'s: {}{}, from {} collectives",
                        trace.ranks()[id].number, trace.ranks()[alignment.reference].number,
                        microseconds(correction.offset),
                        correction.drift == 0
                            ? std::string()
                            : fmt::format(" and {:.1f} ppm", correction.drift * 1e6),
                        correction.anchors));
    }
    diagnostics.add(
        base::Severity::Info, "clock_bound",
        fmt::format("times of different ranks compare to within {}", microseconds(worst)));
}

}  // namespace

base::TraceTime ClockAlignment::corrected(RankId rank, base::TraceTime time) const {
    const ClockCorrection& correction = of[rank];
    const double run = static_cast<double>((time - correction.origin).ns) * correction.drift;
    return time + correction.offset + base::Duration{static_cast<std::int64_t>(std::llround(run))};
}

std::optional<ClockAlignment> alignClocks(const trace::Trace& annotated) {
    return Aligner(annotated).run();
}

trace::Trace withCorrectedClocks(trace::Trace trace, const ClockAlignment& alignment) {
    base::Diagnostics diagnostics = trace.diagnostics();
    report(trace, alignment, diagnostics);
    return trace::retimed(
        std::move(trace),
        [&](RankId rank, base::TraceTime time) { return alignment.corrected(rank, time); },
        std::move(diagnostics));
}

}  // namespace pleat::annotate
