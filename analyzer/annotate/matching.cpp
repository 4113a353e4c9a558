#include "annotate/matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "annotate/order_alignment.h"
#include "annotate/order_numbers.h"
#include "base/say.h"
#include "base/statistics.h"
#include "trace/limits.h"

namespace pleat::annotate {
namespace {

using schedule::ActionKind;
using trace::Operation;
using trace::Transfer;
using trace::TransferId;

// Parts with equal keys belong together.
using Key = std::array<std::int64_t, 6>;

struct Part {
    Key key;
    bool receives = false;
    TransferId id;
};

// Forward and backward messages between two ranks are counted apart.
std::int64_t directionOf(const Transfer& transfer) {
    if (!transfer.action) return 0;
    const ActionKind kind = *transfer.action;
    if (!isCommunication(kind)) return 3;
    return kind == ActionKind::SendForward || kind == ActionKind::ReceiveForward ? 1 : 2;
}

class Matcher {
  public:
    explicit Matcher(Draft& draft) : m_draft(draft), m_transfers(draft.found.transfers) {}

    void run() {
        std::vector<Part> messages, unnumberedMessages, collectives, unnumberedCollectives;
        for (std::size_t i = 0; i < m_transfers.size(); ++i) {
            const TransferId id = TransferId::at(i);
            const Transfer& transfer = m_transfers[id];
            const bool numbered = transfer.group.valid() && transfer.sequence >= 0;
            if (isMessage(transfer.operation)) {
                if (transfer.peer < 0) continue;
                auto& parts = numbered ? messages : unnumberedMessages;
                parts.push_back(
                    {messageKey(transfer, numbered), transfer.operation == Operation::Receive, id});
            } else if (numbered) {
                collectives.push_back({numberedKey(transfer), false, id});
            } else if (transfer.stage >= 0) {
                m_ofStages[stageKey(transfer)][transfer.rank].push_back(id);
            }
        }
        for (auto& [key, ofRanks] : m_ofStages) numberOfStage(key, ofRanks, unnumberedCollectives);
        countRepetitions(collectives);
        pairMessages(messages, false);
        pairMessages(unnumberedMessages, true);
        gatherCollectives(collectives, false);
        gatherCollectives(unnumberedCollectives, true);
        publish();
    }

  private:
    Key messageKey(const Transfer& transfer, bool numbered) const {
        const std::int64_t own = m_draft.ranks[transfer.rank].number;
        const bool sends = transfer.operation == Operation::Send;
        const std::int64_t from = sends ? own : transfer.peer;
        const std::int64_t to = sends ? transfer.peer : own;
        const std::int64_t direction = directionOf(transfer);
        if (numbered) {
            return {transfer.group.index(), transfer.sequence, from, to, direction, 0};
        }
        // The stage that receives; with the microbatch it keeps one lost message from shifting all
        // that follow.
        std::int64_t target = -1;
        const std::int64_t group =
            transfer.group.valid() ? static_cast<std::int64_t>(transfer.group.index()) : -1;
        if (direction != 0) target = transfer.stage + (sends ? (direction == 1 ? 1 : -1) : 0);
        return {group, transfer.microbatch, from, to, direction, target};
    }

    static Key numberedKey(const Transfer& transfer) {
        const auto operation = static_cast<std::int64_t>(transfer.operation);
        return {transfer.group.index(), transfer.sequence, operation, 0, 0, 0};
    }

    // One number stands for several where they are coalesced; of another operation are others. The
    // n-th of each member belong together.
    void countRepetitions(std::vector<Part>& parts) const {
        std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
            const auto order = a.key <=> b.key;
            return order != 0 ? order < 0 : a.id < b.id;
        });
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const bool again = m_transfers[parts[i].id].rank == m_transfers[parts[i - 1].id].rank &&
                               std::equal(parts[i].key.begin(), parts[i].key.begin() + 3,
                                          parts[i - 1].key.begin());
            if (again) parts[i].key[3] = parts[i - 1].key[3] + 1;
        }
    }

    // Collectives of a stage, on the ranks that hold it in a replica.
    Key stageKey(const Transfer& transfer) const {
        const trace::Coordinates& at = m_draft.ranks[transfer.rank].coordinates;
        const auto kind = static_cast<std::int64_t>(transfer.operation) * 16 +
                          static_cast<std::int64_t>(transfer.dimension);
        return {kind, transfer.stage, 0, at.tp, at.ep, at.cp};
    }

    void numberOfStage(Key key, CollectivesOfRanks& ofRanks, std::vector<Part>& parts) {
        for (const OrderNumber& one : numbersByIteration(m_draft, ofRanks)) {
            key[2] = one.number;
            parts.push_back({key, false, one.transfer});
        }
    }

    // Ascending by key, receives last, in order of time.
    void sortParts(std::vector<Part>& parts) const {
        std::sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
            if (const auto order = a.key <=> b.key; order != 0) return order < 0;
            if (a.receives != b.receives) return b.receives;
            const auto beginA = m_transfers[a.id].span.begin;
            const auto beginB = m_transfers[b.id].span.begin;
            return std::pair(beginA, a.id) < std::pair(beginB, b.id);
        });
    }

    template <class Visit>
    void forEachKey(std::vector<Part>& parts, Visit visit) {
        sortParts(parts);
        for (auto first = parts.begin(); first != parts.end();) {
            const auto last = std::find_if(
                first, parts.end(), [&](const Part& part) { return part.key != first->key; });
            visit(first, last);
            first = last;
        }
    }

    void pairMessages(std::vector<Part>& parts, bool byOrder) {
        forEachKey(parts, [&](auto first, auto last) {
            const auto firstReceive =
                std::find_if(first, last, [](const Part& part) { return part.receives; });
            auto receive = firstReceive;
            // A microbatch says which is which; where there is none, ends may have been lost, and
            // one may have been recorded from a later message on.
            const bool named = m_transfers[first->id].microbatch >= 0;
            if (byOrder && !named && pairByEnds(first, firstReceive, last)) return;
            const bool byIteration = byOrder && (named || firstReceive - first != last - receive) &&
                                     std::all_of(first, last, [&](const Part& part) {
                                         return m_transfers[part.id].iteration >= 0;
                                     });
            for (auto send = first; send != firstReceive && receive != last; ++send, ++receive) {
                if (byIteration && !meet(send, firstReceive, receive, last)) break;
                m_found.push_back({{send->id, receive->id}, {}, {}, true});
                if (byOrder) noteOrder(send->id);
            }
        });
    }

    // Where ends are missing, those of other iterations do not take their place: goes on to the
    // next two of one iteration; false without any.
    template <class Iterator>
    bool meet(Iterator& send, Iterator sendsEnd, Iterator& receive, Iterator receivesEnd) const {
        while (send != sendsEnd && receive != receivesEnd) {
            const std::int32_t sent = m_transfers[send->id].iteration;
            const std::int32_t received = m_transfers[receive->id].iteration;
            if (sent == received) return true;
            ++(sent < received ? send : receive);
        }
        return false;
    }

    // Sends and receives that end together and are of one size, in order; false where they do not
    // fit each other.
    template <class Iterator>
    bool pairByEnds(Iterator sends, Iterator receives, Iterator last) {
        const bool sized = std::all_of(
            sends, last, [&](const Part& part) { return m_transfers[part.id].bytes > 0; });
        const auto partsOf = [&](Iterator from, Iterator to) {
            std::vector<OrderedPart> parts;
            for (; from != to; ++from) {
                const Transfer& transfer = m_transfers[from->id];
                parts.push_back({sized ? transfer.bytes : 0, transfer.span.end.ns});
            }
            return parts;
        };
        const auto alignment = alignOrders(partsOf(sends, receives), partsOf(receives, last));
        if (!alignment) return false;
        for (auto receive = receives; receive != last; ++receive) {
            const std::ptrdiff_t at =
                alignment->partners[static_cast<std::size_t>(receive - receives)];
            if (at == kNoPartner) continue;
            m_found.push_back({{(sends + at)->id, receive->id}, {}, {}, true});
            noteOrder((sends + at)->id);
        }
        return true;
    }

    void gatherCollectives(std::vector<Part>& parts, bool byOrder) {
        forEachKey(parts, [&](auto first, auto last) {
            trace::Match match;
            for (auto part = first; part != last; ++part) match.members.push_back(part->id);
            const std::size_t expected = expectedMembers(m_transfers[first->id]);
            match.complete = match.members.size() >= std::max<std::size_t>(expected, 1);
            if (match.members.size() == 1 && expected != 1) return;
            if (!match.complete) {
                m_draft.diagnostics.add("incomplete_match", [&] {
                    return fmt::format("{}: {} of {} members found", describe(first->id),
                                       match.members.size(), expected);
                });
            }
            if (byOrder) noteOrder(first->id);
            m_found.push_back(std::move(match));
        });
    }

    // 0 where nothing says how many there are.
    std::size_t expectedMembers(const Transfer& transfer) const {
        if (!transfer.group.valid()) return 0;
        const trace::ProcessGroup& group = m_draft.found.groups[transfer.group];
        return group.size > 0 ? static_cast<std::size_t>(group.size) : group.members.size();
    }

    // Numbers the matches by their first member, so that the result does not depend on the keys.
    void publish() {
        m_mostNoise = mostNoise();
        for (trace::Match& match : m_found) std::sort(match.members.begin(), match.members.end());
        std::sort(m_found.begin(), m_found.end(), [](const auto& a, const auto& b) {
            return a.members.front() < b.members.front();
        });
        for (trace::Match& match : m_found) {
            const Transfer& first = m_transfers[match.members.front()];
            match.ready = first.span.begin;
            match.lastRank = first.rank;
            for (const TransferId member : match.members) {
                const Transfer& transfer = m_transfers[member];
                if (transfer.span.begin <= match.ready) continue;
                match.ready = transfer.span.begin;
                match.lastRank = transfer.rank;
            }
            checkClocks(match);
            const trace::MatchId id = m_draft.found.matches.push(match);
            for (const TransferId member : match.members) m_transfers[member].match = id;
        }
        const bool alone =
            std::count_if(m_draft.ranks.begin(), m_draft.ranks.end(),
                          [](const trace::Rank& rank) { return rank.number >= 0; }) == 1;
        for (std::size_t i = 0; i < m_transfers.size(); ++i) {
            if (m_transfers[TransferId::at(i)].match.valid()) continue;
            const TransferId id = TransferId::at(i);
            if (alone) {
                m_draft.diagnostics.add("partner_not_given", [&] {
                    return describe(id) + " has no partner, because only one rank was given";
                });
            } else {
                m_draft.diagnostics.add("unmatched_transfer",
                                        [&] { return describe(id) + " has no partner"; });
            }
        }
    }

    // Nobody leaves a collective before its last member came, and no message arrives before it is
    // sent. A send may well end before its receive begins: it was buffered.
    void checkClocks(const trace::Match& match) {
        for (const TransferId member : match.members) {
            if (m_transfers[member].operation == Operation::Send) continue;
            const base::Duration early = match.ready - m_transfers[member].span.end;
            if (early.ns <= 0) continue;
            const bool noise = early <= m_mostNoise;
            m_draft.diagnostics.add(
                noise ? base::DiagnosticCode("timers_disagree")
                      : base::DiagnosticCode("clock_disagrees"),
                fmt::format("{} ended {} ns before rank {} started its part{}", describe(member),
                            early.ns, m_draft.ranks[match.lastRank].number,
                            noise ? ", so timers or clocks are wrong by that much" : ""));
        }
    }

    // A quarter of the usual task; nothing where no tasks say how long things take.
    [[nodiscard]] base::Duration mostNoise() const {
        std::vector<std::int64_t> lengths;
        for (const trace::Task& task : m_draft.found.tasks)
            lengths.push_back(task.span.length().ns);
        return {std::min(trace::kMostTimerNoiseNs, base::medianOf(lengths) / 4)};
    }

    void noteOrder(TransferId id) {
        m_draft.diagnostics.add(
            "matched_by_order",
            describe(id) + (m_transfers[id].group.valid() ? " has no sequence number"
                                                          : " does not give its group"));
    }

    std::string describe(TransferId id) const {
        const Transfer& transfer = m_transfers[id];
        return fmt::format(
            "\"{}\" of rank {}{}", base::printable(m_draft.events.name(transfer.event), 80),
            m_draft.ranks[transfer.rank].number,
            transfer.iteration < 0 ? std::string()
                                   : fmt::format(" in iteration {}", transfer.iteration));
    }

    Draft& m_draft;
    base::IdVector<trace::TransferTag, Transfer>& m_transfers;
    std::vector<trace::Match> m_found;
    std::map<Key, CollectivesOfRanks> m_ofStages;
    base::Duration m_mostNoise;  // no clock is wrong for less
};

}  // namespace

void matchTransfers(Draft& draft) { Matcher(draft).run(); }

}  // namespace pleat::annotate
