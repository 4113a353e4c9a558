#include "annotate/order_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "annotate/order_alignment.h"
#include "trace/device_work.h"

namespace pleat::annotate {
namespace {

using trace::Operation;
using trace::RankId;
using trace::TransferId;

void sortByStart(const Draft& draft, std::vector<TransferId>& list) {
    std::sort(list.begin(), list.end(), [&](TransferId a, TransferId b) {
        return std::pair(draft.found.transfers[a].span.begin, a) <
               std::pair(draft.found.transfers[b].span.begin, b);
    });
}

// What all ranks together ran, as far as it is known: in order, each with its end on the clock of
// the rank that was looked at first.
struct Known {
    OrderedPart part;
    std::size_t id = 0;  // equal on all members; numbers are given when all are known
};

class OrderNumbers {
  public:
    OrderNumbers(Draft& draft, CollectivesOfRanks& ofRanks, bool byIteration)
        : m_draft(draft), m_ofRanks(ofRanks), m_byIteration(byIteration) {}

    std::optional<std::vector<OrderNumber>> run() {
        for (auto& [rank, list] : m_ofRanks) sortByStart(m_draft, list);
        m_withBytes = allSayBytes();
        const auto first = std::max_element(
            m_ofRanks.begin(), m_ofRanks.end(),
            [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        m_reference = first->first;
        for (const OrderedPart& part : partsOf(first->second)) add(part, m_reference);
        for (const auto& [rank, list] : m_ofRanks) {
            if (rank == m_reference || join(rank, partsOf(list))) continue;
            differ(rank);
            return std::nullopt;
        }
        for (const auto& [rank, list] : m_ofRanks) noteHoles(rank);
        return numbers();
    }

  private:
    // Sizes tell communications apart only where every rank says them.
    [[nodiscard]] bool allSayBytes() const {
        for (const auto& [rank, list] : m_ofRanks) {
            for (const TransferId id : list)
                if (m_draft.found.transfers[id].bytes <= 0) return false;
        }
        return true;
    }

    [[nodiscard]] std::vector<OrderedPart> partsOf(const std::vector<TransferId>& list) const {
        std::vector<OrderedPart> parts;
        for (const TransferId id : list) {
            const trace::Transfer& transfer = m_draft.found.transfers[id];
            // Members of an all-to-all may well give and get different amounts.
            const bool sized = m_withBytes && (transfer.operation == Operation::AllReduce ||
                                               transfer.operation == Operation::AllGather ||
                                               transfer.operation == Operation::ReduceScatter ||
                                               transfer.operation == Operation::Broadcast ||
                                               transfer.operation == Operation::Reduce);
            const auto size = static_cast<std::uint64_t>(sized ? transfer.bytes : 0);
            const auto kind =
                size * 0x9e3779b97f4a7c15U +
                static_cast<std::uint64_t>(m_byIteration ? transfer.iteration + 1 : 0) * 16 +
                static_cast<std::uint64_t>(transfer.operation);
            parts.push_back({static_cast<std::int64_t>(kind), transfer.span.end.ns});
        }
        return parts;
    }

    void add(const OrderedPart& part, RankId rank) {
        m_idsOf[rank].push_back(m_known.size());
        m_known.push_back({part, m_known.size()});
    }

    // Finds the rank's parts among those known, and adds those that only it has.
    bool join(RankId rank, const std::vector<OrderedPart>& parts) {
        std::vector<OrderedPart> known;
        for (const Known& one : m_known) known.push_back(one.part);
        const auto alignment = alignOrders(known, parts);
        if (!alignment) return false;
        note(rank, *alignment);
        std::vector<Known> merged;
        std::size_t next = 0;  // of those known
        const auto keepUntil = [&](std::size_t end) {
            for (; next < end; ++next) merged.push_back(m_known[next]);
        };
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (alignment->partners[i] != kNoPartner) {
                const auto at = static_cast<std::size_t>(alignment->partners[i]);
                keepUntil(at + 1);
                m_idsOf[rank].push_back(m_known[at].id);
                continue;
            }
            const OrderedPart moved{
                parts[i].kind,
                parts[i].endNs + static_cast<std::int64_t>(std::llround(alignment->difference))};
            const std::size_t limit = nextPartner(*alignment, i);
            while (next < limit && m_known[next].part.endNs <= moved.endNs)
                merged.push_back(m_known[next++]);
            m_idsOf[rank].push_back(m_known.size() + (merged.size() - next));
            merged.push_back({moved, m_idsOf[rank].back()});
        }
        keepUntil(m_known.size());
        m_known = std::move(merged);
        return true;
    }

    // The place among those known before which part `i` lies.
    [[nodiscard]] std::size_t nextPartner(const OrderAlignment& alignment, std::size_t i) const {
        for (++i; i < alignment.partners.size(); ++i) {
            if (alignment.partners[i] != kNoPartner)
                return static_cast<std::size_t>(alignment.partners[i]);
        }
        return m_known.size();
    }

    [[nodiscard]] std::vector<OrderNumber> numbers() {
        std::vector<std::int64_t> ofId(m_known.size());
        for (std::size_t i = 0; i < m_known.size(); ++i)
            ofId[m_known[i].id] = static_cast<std::int64_t>(i);
        std::vector<OrderNumber> all;
        for (const auto& [rank, list] : m_ofRanks) {
            for (std::size_t i = 0; i < list.size(); ++i)
                all.push_back({list[i], ofId[m_idsOf[rank][i]]});
        }
        return all;
    }

    void differ(RankId rank) {
        std::size_t collectives = 0;
        for (const auto& [of, list] : m_ofRanks) collectives += list.size();
        m_draft.diagnostics.add(
            "collectives_differ",
            [&] {
                return fmt::format(
                    "rank {} ran different collectives than rank {}, or in a different order, "
                    "and they have no numbers; not matched",
                    m_draft.ranks[rank].number, m_draft.ranks[m_reference].number);
            },
            static_cast<std::int64_t>(collectives));
    }

    void note(RankId rank, const OrderAlignment& alignment) {
        const auto say = [&](base::DiagnosticCode code, std::string_view what) {
            m_draft.diagnostics.add(code,
                                    fmt::format("rank {}'s {}", m_draft.ranks[rank].number, what));
        };
        const auto& partners = alignment.partners;
        const auto first = std::find_if(partners.begin(), partners.end(),
                                        [](std::ptrdiff_t at) { return at != kNoPartner; });
        const std::ptrdiff_t shift = *first - (first - partners.begin());
        if (shift != 0) {
            say("order_shifted",
                fmt::format("recording begins {} collectives {} than rank {}'s, by their ends",
                            std::abs(shift), shift > 0 ? "later" : "earlier",
                            m_draft.ranks[m_reference].number));
        }
        if (!alignment.sure)
            say("order_unsure",
                "collectives have no numbers and are so regular that another match fits too");
    }

    // Between a rank's first collective and its last the others may have more.
    void noteHoles(RankId rank) {
        const std::set<std::size_t> own(m_idsOf[rank].begin(), m_idsOf[rank].end());
        std::int64_t missing = 0, sinceLast = 0;
        std::size_t before = 0, hole = 0;
        for (const Known& one : m_known) {
            if (!own.contains(one.id)) {
                sinceLast += before > 0 ? 1 : 0;
                continue;
            }
            if (sinceLast > 0 && missing == 0) hole = before;
            missing += std::exchange(sinceLast, 0);
            ++before;
        }
        if (missing == 0) return;
        m_draft.diagnostics.add(
            "collective_lost",
            [&] {
                return fmt::format(
                    "rank {} is missing from a collective of the others after its number {} of "
                    "{}; the following ones are matched by their ends and sizes",
                    m_draft.ranks[rank].number, hole, own.size());
            },
            missing);
    }

    Draft& m_draft;
    CollectivesOfRanks& m_ofRanks;
    const bool m_byIteration;  // which the program said
    bool m_withBytes = false;
    RankId m_reference;
    std::vector<Known> m_known;
    std::map<RankId, std::vector<std::size_t>> m_idsOf;  // of Known, as its list
};

void joinGuessed(Draft& draft, NamedGroups& groups, const CollectivesOfRanks& ofRanks,
                 trace::Dimension dimension) {
    for (const auto& [rank, list] : ofRanks) {
        for (const TransferId id : list) {
            draft.found.transfers[id].group = groups.join(
                fmt::format("every rank, {}", trace::toString(dimension)), dimension, 0, rank);
        }
        draft.diagnostics.add(
            "communicator_guessed",
            "a collective does not give its communicator; assumed to be of all ranks, in order",
            static_cast<std::int64_t>(list.size()));
    }
}

}  // namespace

std::optional<std::vector<OrderNumber>> numbersByOrder(Draft& draft, CollectivesOfRanks& ofRanks) {
    return OrderNumbers(draft, ofRanks, false).run();
}

std::vector<OrderNumber> numbersByIteration(Draft& draft, CollectivesOfRanks& ofRanks) {
    const auto iterationsOf = [&](const std::vector<TransferId>& list) {
        std::vector<std::int32_t> iterations;
        for (const TransferId id : list) iterations.push_back(draft.found.transfers[id].iteration);
        return iterations;
    };
    for (auto& [rank, list] : ofRanks) sortByStart(draft, list);
    const auto first = iterationsOf(ofRanks.begin()->second);
    const bool alike = std::all_of(ofRanks.begin(), ofRanks.end(), [&](const auto& ofRank) {
        return iterationsOf(ofRank.second) == first;
    });
    if (!alike) {
        if (auto numbers = OrderNumbers(draft, ofRanks, true).run()) return *numbers;
    }
    std::vector<OrderNumber> numbers;
    for (const auto& [rank, list] : ofRanks) {
        for (std::size_t i = 0; i < list.size(); ++i)
            numbers.push_back({list[i], static_cast<std::int64_t>(i)});
    }
    return numbers;
}

void numberCollectives(Draft& draft) {
    const trace::DeviceWorkKinds kinds(draft.events.columns(), draft.found.transfers);
    // Without a group, those of libraries that serve different dimensions are different ones.
    std::map<std::pair<trace::GroupId, trace::Dimension>, CollectivesOfRanks> byGroup;
    auto& transfers = draft.found.transfers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto id = TransferId::at(i);
        const trace::Transfer& transfer = transfers[id];
        const bool ofStage = !transfer.group.valid() && transfer.stage >= 0;
        if (kinds.of(transfer.event) != trace::DeviceWork::None && !ofStage &&
            !isMessage(transfer.operation) && transfer.sequence < 0)
            byGroup[{transfer.group, transfer.dimension}][transfer.rank].push_back(id);
    }
    NamedGroups groups(draft);
    for (auto& [key, ofRanks] : byGroup) {
        const auto& [group, dimension] = key;
        // One rank alone has nobody to be matched with.
        if (ofRanks.size() < 2 && !group.valid()) continue;
        const auto numbers = numbersByOrder(draft, ofRanks);
        if (!numbers) continue;
        for (const OrderNumber& number : *numbers)
            transfers[number.transfer].sequence = number.number;
        if (!group.valid()) joinGuessed(draft, groups, ofRanks, dimension);
    }
    groups.finish();
}

}  // namespace pleat::annotate
