#include "annotate/clock_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "annotate/communication.h"
#include "base/statistics.h"

namespace pleat::annotate {
namespace {

using trace::RankId;
using Evidence = std::map<std::pair<ClockId, ClockId>, ClockEvidence>;
using ClockOfRank = base::IdVector<trace::RankTag, ClockId>;

// Numbers the distinct keys of ranks in order of appearance.
template <class KeyOf>
ClockOfRank numbered(const trace::Trace& trace, KeyOf keyOf) {
    std::map<decltype(keyOf(RankId())), ClockId> known;
    ClockOfRank of;
    for (std::size_t i = 0; i < trace.ranks().size(); ++i)
        of.push(known.try_emplace(keyOf(RankId::at(i)), ClockId::at(known.size())).first->second);
    return of;
}

const trace::Transfer& transferOf(const trace::Trace& trace, trace::TransferId id) {
    return trace.annotations().transfers[id];
}

void addMoment(Evidence& evidence, const trace::Transfer& a, ClockId clockOfA,
               const trace::Transfer& b, ClockId clockOfB) {
    const bool inOrder = clockOfA < clockOfB;
    const trace::Transfer& first = inOrder ? a : b;
    const trace::Transfer& second = inOrder ? b : a;
    evidence[{std::min(clockOfA, clockOfB), std::max(clockOfA, clockOfB)}].moments.push_back(
        {first.span.end.ns, second.span.end.ns});
}

void addMessage(Evidence& evidence, const trace::Transfer& a, const trace::Transfer& b,
                const ClockOfRank& clocks) {
    const bool aSends = a.operation == trace::Operation::Send;
    const trace::Transfer& sent = aSends ? a : b;
    const trace::Transfer& arrived = aSends ? b : a;
    const ClockId from = clocks[sent.rank], to = clocks[arrived.rank];
    evidence[{std::min(from, to), std::max(from, to)}].messages.push_back(
        {sent.span.begin.ns, arrived.span.end.ns, from < to});
}

// Members of a collective that were not recorded do not hinder: those that were end together. Of
// each clock one member speaks, to the first member's.
Evidence gather(const trace::Trace& trace, const ClockOfRank& clocks) {
    Evidence evidence;
    std::set<ClockId> spoken;
    for (const trace::Match& match : trace.annotations().matches) {
        if (match.members.size() < 2) continue;
        const trace::Transfer& first = transferOf(trace, match.members.front());
        const bool message = isMessage(first.operation);
        if (!message && !endsTogether(first.operation, trace.name(first.event))) continue;
        spoken = {clocks[first.rank]};
        for (std::size_t i = 1; i < match.members.size(); ++i) {
            const trace::Transfer& other = transferOf(trace, match.members[i]);
            const ClockId clock = clocks[other.rank];
            if (!spoken.insert(clock).second) continue;
            if (message) {
                addMessage(evidence, first, other, clocks);
            } else {
                addMoment(evidence, first, clocks[first.rank], other, clock);
            }
        }
    }
    return evidence;
}

// Do ends of the same collectives lie plainly apart, by one and the same time?
std::optional<base::Duration> plainDifference(const ClockEvidence& evidence) {
    constexpr std::size_t kFewest = 3;
    constexpr std::int64_t kPlain_ns = 1'000'000;
    if (evidence.moments.size() < kFewest) return std::nullopt;
    std::vector<std::int64_t> differences;
    for (const ClockEvidence::Moment& moment : evidence.moments)
        differences.push_back(moment.first - moment.second);
    const std::int64_t median = base::medianOf(differences);
    const std::int64_t spread =
        base::nearestRank(differences, 3, 4) - base::nearestRank(differences, 1, 4);
    if (std::abs(median) < kPlain_ns || spread > std::abs(median) / 10) return std::nullopt;
    return base::Duration{std::abs(median)};
}

class Gatherer {
  public:
    explicit Gatherer(const trace::Trace& trace) : m_trace(trace) {}

    Clocks run() {
        const auto reading = [&](RankId rank) -> const trace::ClockReading& {
            return m_trace.ranks()[rank].clock;
        };
        const ClockOfRank ofRecordings = numbered(m_trace, [&](RankId rank) {
            return std::pair(reading(rank).clock, reading(rank).recording);
        });
        m_clocks.evidence = gather(m_trace, ofRecordings);
        const std::set<std::int32_t> notShared = clocksNotShared(ofRecordings);
        m_clocks.of = numbered(m_trace, [&](RankId rank) {
            const bool apart = notShared.contains(reading(rank).clock);
            return std::pair(reading(rank).clock, apart ? reading(rank).recording : -1);
        });
        if (!std::equal(m_clocks.of.begin(), m_clocks.of.end(), ofRecordings.begin()))
            m_clocks.evidence = gather(m_trace, m_clocks.of);
        describe();
        return std::move(m_clocks);
    }

  private:
    std::set<std::int32_t> clocksNotShared(const ClockOfRank& ofRecordings) {
        std::map<ClockId, RankId> firstOf;
        for (std::size_t i = 0; i < ofRecordings.size(); ++i)
            firstOf.try_emplace(ofRecordings[RankId::at(i)], RankId::at(i));
        std::set<std::int32_t> apart;
        for (const auto& [pair, evidence] : m_clocks.evidence) {
            const trace::Rank& first = m_trace.ranks()[firstOf[pair.first]];
            const trace::Rank& second = m_trace.ranks()[firstOf[pair.second]];
            if (first.clock.clock != second.clock.clock) continue;
            const auto difference = plainDifference(evidence);
            if (!difference) continue;
            apart.insert(first.clock.clock);
            m_clocks.diagnostics.add(
                "clock_not_shared",
                fmt::format("ranks {} and {} seem to be on one host, but the collectives they "
                            "share end {:.3f} ms apart, so their clocks are treated as different",
                            first.number, second.number,
                            static_cast<double>(difference->ns) / 1e6));
        }
        return apart;
    }

    void describe() {
        for (std::size_t i = 0; i < m_clocks.of.size(); ++i) {
            const RankId rank = RankId::at(i);
            const bool utc = m_trace.ranks()[rank].clock.unixZero_ns.has_value();
            const ClockId clock = m_clocks.of[rank];
            if (clock.index() == m_clocks.clocks.size()) m_clocks.clocks.push({rank, utc});
            m_clocks.clocks[clock].utc = m_clocks.clocks[clock].utc && utc;
        }
    }

    const trace::Trace& m_trace;
    Clocks m_clocks;
};

}  // namespace

Clocks gatherClocks(const trace::Trace& annotated) { return Gatherer(annotated).run(); }

}  // namespace pleat::annotate
