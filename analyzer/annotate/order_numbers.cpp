#include "annotate/order_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "annotate/order_shift.h"

namespace pleat::annotate {
namespace {

using base::Severity;
using trace::RankId;
using trace::TransferId;

class OrderNumbers {
  public:
    OrderNumbers(Draft& draft, CollectivesOfRanks& ofRanks) : m_draft(draft), m_ofRanks(ofRanks) {}

    bool run() {
        for (auto& [rank, list] : m_ofRanks) sort(list);
        const auto reference = std::max_element(
            m_ofRanks.begin(), m_ofRanks.end(),
            [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        const std::vector<OrderedPart> expected = partsOf(reference->second);
        std::map<RankId, std::ptrdiff_t> shifts;
        for (const auto& [rank, list] : m_ofRanks) {
            const auto shift =
                rank == reference->first ? OrderShift() : findShift(expected, partsOf(list));
            if (!shift) return differ(rank, reference->first);
            note(rank, reference->first, *shift);
            shifts[rank] = shift->shift;
        }
        std::ptrdiff_t lowest = 0;
        for (const auto& [rank, shift] : shifts) lowest = std::min(lowest, shift);
        for (const auto& [rank, list] : m_ofRanks) {
            for (std::size_t i = 0; i < list.size(); ++i) {
                m_draft.found.transfers[list[i]].sequence =
                    static_cast<std::ptrdiff_t>(i) + shifts[rank] - lowest;
            }
        }
        return true;
    }

  private:
    void sort(std::vector<TransferId>& list) const {
        std::sort(list.begin(), list.end(), [&](TransferId a, TransferId b) {
            return std::pair(m_draft.found.transfers[a].span.begin, a) <
                   std::pair(m_draft.found.transfers[b].span.begin, b);
        });
    }

    [[nodiscard]] std::vector<OrderedPart> partsOf(const std::vector<TransferId>& list) const {
        std::vector<OrderedPart> parts;
        for (const TransferId id : list) {
            const trace::Transfer& transfer = m_draft.found.transfers[id];
            parts.push_back({static_cast<std::int32_t>(transfer.operation), transfer.span.end.ns});
        }
        return parts;
    }

    bool differ(RankId rank, RankId reference) {
        std::size_t collectives = 0;
        for (const auto& [of, list] : m_ofRanks) collectives += list.size();
        m_draft.diagnostics.add(
            Severity::DataLoss, "collectives_differ",
            fmt::format("rank {} ran other collectives than rank {}, or in another order, and they "
                        "carry no number; they are not matched",
                        m_draft.ranks[rank].number, m_draft.ranks[reference].number),
            static_cast<std::int64_t>(collectives));
        return false;
    }

    void note(RankId rank, RankId reference, const OrderShift& shift) {
        const auto say = [&](std::string_view code, std::string_view what) {
            m_draft.diagnostics.add(Severity::Info, code,
                                    fmt::format("rank {}'s {}", m_draft.ranks[rank].number, what));
        };
        if (shift.shift != 0) {
            say("order_shifted",
                fmt::format("recording begins {} collectives {} than rank {}'s, by their ends",
                            std::abs(shift.shift), shift.shift > 0 ? "later" : "earlier",
                            m_draft.ranks[reference].number));
        }
        if (!shift.sure)
            say("order_unsure",
                "collectives carry no number and come so regularly that another match fits too");
    }

    Draft& m_draft;
    CollectivesOfRanks& m_ofRanks;
};

}  // namespace

bool numberByOrder(Draft& draft, CollectivesOfRanks& ofRanks) {
    return OrderNumbers(draft, ofRanks).run();
}

}  // namespace pleat::annotate
