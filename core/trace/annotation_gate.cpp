#include "trace/annotation_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/say.h"
#include "base/stretches.h"
#include "trace/limits.h"

namespace pleat::trace {
namespace {

bool isNumber(std::int64_t number, std::int64_t most) { return number >= -1 && number <= most; }

constexpr auto kBefore = [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.span.begin, a.event) < std::tie(b.rank, b.span.begin, b.event);
};

// What is wrong with annotations, said with the event's name.
class Complaints {
  public:
    Complaints(const EventColumns& events, base::Diagnostics& diagnostics)
        : m_events(events), m_diagnostics(diagnostics) {}

    void number(EventId event, std::string_view field, std::int64_t number,
                std::string_view outcome) {
        m_diagnostics.add("number_out_of_range", [&] {
            return fmt::format("{}: {} {} is out of range; {}", nameOf(event), field, number,
                               outcome);
        });
    }
    void time(EventId event, std::int64_t ns) {
        add("time_out_of_range",
            fmt::format("{}: {} ns is more than 73 years from the trace's origin", nameOf(event),
                        ns));
    }
    void negative(EventId event, base::Interval span) {
        m_diagnostics.add("negative_duration",
                          fmt::format("{} ends at {} ns, before its start at {} ns; kept as empty",
                                      nameOf(event), span.end.ns, span.begin.ns));
    }
    void dangling(std::string_view what, EventId event, std::string_view of) {
        add("dangling_reference",
            fmt::format("{}: the {} of this {} does not exist; skipped", nameOf(event), of, what));
    }
    void add(base::DiagnosticCode code, std::string_view example) {
        m_diagnostics.add(code, example);
    }

  private:
    [[nodiscard]] std::string nameOf(EventId event) const {
        if (!event.valid() || event.index() >= m_events.name.size()) return "without an event";
        const base::StringId name = m_events.name[event.index()];
        return fmt::format("\"{}\"", base::printable(m_events.strings.text(name), 80));
    }

    const EventColumns& m_events;
    base::Diagnostics& m_diagnostics;
};

class NumberLimits {
  public:
    enum class Tasks : std::uint8_t { Unfinished, Finished };
    NumberLimits(Complaints& complaints, Tasks tasks) : m_say(complaints), m_tasks(tasks) {}

    void limit(Rank& rank) {
        Coordinates& at = rank.coordinates;
        for (std::int32_t* place : {&at.dp, &at.pp, &at.tp, &at.ep, &at.cp}) {
            if (isNumber(*place, kMaximumNumber)) continue;
            m_say.add(
                "number_out_of_range",
                fmt::format("rank {} has position {} in its layout, which must be from 0 to {}; "
                            "not used",
                            rank.number, *place, kMaximumNumber));
            *place = -1;
        }
        if (isNumber(rank.number, kMaximumNumber)) return;
        m_say.add("number_out_of_range",
                  fmt::format("rank number {} is not from 0 to {}; the process counts as none of "
                              "the training ranks",
                              rank.number, kMaximumNumber));
        rank.number = -1;
    }

    // False for one to leave out.
    bool limit(Task& task) {
        // Two actions that ran as one have no microbatch of their own.
        const bool ofSeveral = task.kind == schedule::ActionKind::OverlapForwardBackward;
        const std::int32_t least = m_tasks == Tasks::Finished ? 0 : -1;
        if (task.stage < least || task.stage > kMaximumNumber) {
            m_say.number(task.event, "stage", task.stage, "task skipped");
            return false;
        }
        if (task.microbatch < (ofSeveral ? -1 : least) || task.microbatch > kMaximumNumber) {
            m_say.number(task.event, "microbatch", task.microbatch, "task skipped");
            return false;
        }
        forget(task.event, "chunk", task.chunk, kMaximumNumber);
        limitTimes(task);
        return true;
    }

    void limit(Transfer& transfer) {
        forget(transfer.event, "stage", transfer.stage, kMaximumNumber);
        forget(transfer.event, "chunk", transfer.chunk, kMaximumNumber);
        forget(transfer.event, "microbatch", transfer.microbatch, kMaximumNumber);
        forget(transfer.event, "peer", transfer.peer, kMaximumNumber);
        forget(transfer.event, "sequence", transfer.sequence, kMaximumSequence);
        if (transfer.bytes > kMaximumBytes || transfer.bytes < 0) {
            m_say.number(transfer.event, "bytes", transfer.bytes, "not used");
            transfer.bytes = 0;
        }
        limitTimes(transfer);
    }

    // The iteration and the times, which all have.
    template <class Item>
    void limitTimes(Item& item) {
        forget(item.event, "iteration", item.iteration, std::numeric_limits<std::int32_t>::max());
        for (base::TraceTime* time : {&item.span.begin, &item.span.end}) {
            if (time->ns >= -kFarthestNs && time->ns <= kFarthestNs) continue;
            m_say.time(item.event, time->ns);
            time->ns = std::clamp(time->ns, -kFarthestNs, kFarthestNs);
        }
        if (item.span.end < item.span.begin) {
            m_say.negative(item.event, item.span);
            item.span.end = item.span.begin;
        }
    }

  private:
    template <class Number>
    void forget(EventId event, std::string_view field, Number& number, Number most) {
        if (isNumber(number, most)) return;
        m_say.number(event, field, number, "not used");
        number = -1;
    }

    Complaints& m_say;
    const Tasks m_tasks;
};

void limitAll(NumberLimits limits, base::IdVector<RankTag, Rank>& ranks, Annotations& found) {
    for (Rank& rank : ranks) limits.limit(rank);
    found.tasks.eraseIf([&](Task& task) { return !limits.limit(task); });
    for (Transfer& transfer : found.transfers) limits.limit(transfer);
    for (Phase& phase : found.phases) limits.limitTimes(phase);
    for (IterationSpan& iteration : found.iterations) limits.limitTimes(iteration);
}

// Leaves out what refers to nothing, and orders what is left.
class References {
  public:
    References(Annotations& found, std::size_t events, std::size_t ranks, Complaints& complaints)
        : m_found(found), m_events(events), m_ranks(ranks), m_say(complaints) {}

    void run() {
        m_found.tasks.eraseIf([&](const Task& task) { return isDangling("task", task); });
        const auto isDanglingPhase = [&](const Phase& phase) { return isDangling("phase", phase); };
        std::erase_if(m_found.phases, isDanglingPhase);
        std::erase_if(m_found.iterations,
                      [&](const IterationSpan& span) { return isDangling("iteration", span); });
        for (ProcessGroup& group : m_found.groups) limit(group);
        for (Transfer& transfer : m_found.transfers) checkLinks(transfer);
        checkMembers();
        orderTransfers();
        dropMatches();
        sort(m_found.tasks);
        sort(m_found.phases);
        sort(m_found.iterations);
    }

  private:
    [[nodiscard]] bool isRank(RankId rank) const { return rank.valid() && rank.index() < m_ranks; }

    // An item that stands for no single event has an invalid one.
    template <class Item>
    bool isDangling(std::string_view what, const Item& item) {
        const bool hasEvent = !item.event.valid() || item.event.index() < m_events;
        if (hasEvent && isRank(item.rank)) return false;
        m_say.dangling(what, item.event, hasEvent ? "rank" : "event");
        return true;
    }

    void limit(ProcessGroup& group) {
        group.size = std::max(group.size, 0);
        std::erase_if(group.members, [&](RankId member) {
            if (isRank(member)) return false;
            m_say.dangling("member of a process group", {}, "rank");
            return true;
        });
    }

    void checkLinks(Transfer& transfer) {
        if (transfer.group.valid() && transfer.group.index() >= m_found.groups.size()) {
            m_say.dangling("transfer", transfer.event, "process group");
            transfer.group = {};
        }
        if (transfer.match.valid() && transfer.match.index() >= m_found.matches.size()) {
            m_say.dangling("transfer", transfer.event, "match");
            transfer.match = {};
        }
    }

    // A match and its members name each other.
    void checkMembers() {
        auto& transfers = m_found.transfers;
        std::vector<bool> isMember(transfers.size(), false);
        for (std::size_t m = 0; m < m_found.matches.size(); ++m) {
            const MatchId id = MatchId::at(m);
            Match& match = m_found.matches[id];
            if (!isRank(match.lastRank)) {
                m_say.dangling("match", {}, "last rank");
                match.members.clear();
            }
            match.ready.ns = std::clamp(match.ready.ns, -kFarthestNs, kFarthestNs);
            std::erase_if(match.members, [&](TransferId member) {
                const bool knows = member.valid() && member.index() < transfers.size() &&
                                   transfers[member].match == id && !isMember[member.index()];
                if (!knows) return true;
                isMember[member.index()] = true;
                return false;
            });
        }
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            Transfer& transfer = transfers[TransferId::at(i)];
            if (!isMember[i]) transfer.match = {};
        }
    }

    void orderTransfers() {
        auto& transfers = m_found.transfers;
        std::vector<TransferId> order;
        for (std::size_t i = 0; i < transfers.size(); ++i)
            if (!isDangling("transfer", transfers[TransferId::at(i)]))
                order.push_back(TransferId::at(i));
        const auto before = [&](TransferId a, TransferId b) {
            return kBefore(transfers[a], transfers[b]);
        };
        const bool all = order.size() == transfers.size();
        if (all && std::is_sorted(order.begin(), order.end(), before)) return;
        base::sortStretches(std::span(order), before);
        std::vector<TransferId> moved(transfers.size());
        base::IdVector<TransferTag, Transfer> ordered;
        for (const TransferId id : order) moved[id.index()] = ordered.push(transfers[id]);
        transfers = std::move(ordered);
        for (Match& match : m_found.matches) {
            for (TransferId& member : match.members) member = moved[member.index()];
            std::erase_if(match.members, [](TransferId member) { return !member.valid(); });
        }
    }

    // A match without members says nothing.
    void dropMatches() {
        auto& matches = m_found.matches;
        const auto isEmpty = [](const Match& match) { return match.members.empty(); };
        const auto empty = std::count_if(matches.begin(), matches.end(), isEmpty);
        if (empty == 0) return;
        m_say.add("dangling_reference", "a match has no members; skipped");
        matches.eraseIf(isEmpty);
        for (std::size_t i = 0; i < matches.size(); ++i)
            for (const TransferId member : matches[MatchId::at(i)].members)
                m_found.transfers[member].match = MatchId::at(i);
    }

    template <class Items>
    static void sort(Items& items) {
        base::sortStretches(std::span(items.begin(), items.end()), kBefore);
    }

    Annotations& m_found;
    const std::size_t m_events, m_ranks;
    Complaints& m_say;
};

}  // namespace

void AnnotationGate::limit(Annotations& found) {
    Complaints complaints(m_events, m_diagnostics);
    limitAll(NumberLimits(complaints, NumberLimits::Tasks::Unfinished), m_ranks, found);
}

Annotations AnnotationGate::close(Annotations found) {
    Complaints complaints(m_events, m_diagnostics);
    limitAll(NumberLimits(complaints, NumberLimits::Tasks::Finished), m_ranks, found);
    References(found, m_events.lane.size(), m_ranks.size(), complaints).run();
    if (found.schedule && !(found.schedule->confidence >= 0 && found.schedule->confidence <= 1)) {
        complaints.add("number_out_of_range",
                       "the schedule's confidence is not between 0 and 1; no schedule is named");
        found.schedule.reset();
    }
    return found;
}

}  // namespace pleat::trace
