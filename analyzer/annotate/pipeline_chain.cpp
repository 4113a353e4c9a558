#include "annotate/pipeline_chain.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace pleat::annotate {
namespace {

using trace::RankId;

class Chains {
  public:
    explicit Chains(const Draft& draft) : m_draft(draft), m_places(draft.ranks.size()) {
        for (std::size_t i = 0; i < draft.ranks.size(); ++i) {
            const std::int32_t number = draft.ranks[RankId::at(i)].number;
            if (number >= 0) m_rankOf[number] = RankId::at(i);
        }
    }

    base::IdVector<trace::RankTag, PipelinePlace> run() {
        connect();
        for (const auto& [number, neighbours] : m_neighbours) {
            const bool isEnd = neighbours.size() == 1;
            if (isEnd && m_places[m_rankOf[number]].stage < 0) place(chainFrom(number));
        }
        return std::move(m_places);
    }

  private:
    void connect() {
        // Which message of an iteration ends first: receives may be posted long before.
        std::map<std::pair<std::int32_t, std::int32_t>, const trace::Transfer*> firsts;
        for (const trace::Transfer& transfer : m_draft.found.transfers) {
            if (!isMessage(transfer.operation) || !m_rankOf.contains(transfer.peer)) continue;
            const std::int32_t own = m_draft.ranks[transfer.rank].number;
            if (own < 0 || own == transfer.peer) continue;
            m_neighbours[own].insert(transfer.peer);
            m_neighbours[transfer.peer].insert(own);
            if (transfer.action) countDirection(own, transfer.peer, *transfer.action);
            const trace::Transfer*& first = firsts[{own, transfer.iteration}];
            if (first == nullptr || transfer.span.end < first->span.end) first = &transfer;
        }
        for (const auto& [key, first] : firsts)
            m_sendsFirst[key.first] += first->operation == trace::Operation::Send ? 1 : -1;
    }

    // What a message is says which of its ends comes first in the pipeline.
    void countDirection(std::int32_t own, std::int32_t peer, schedule::ActionKind action) {
        using schedule::ActionKind;
        if (action == ActionKind::SendForward || action == ActionKind::ReceiveBackward)
            ++m_precedes[{own, peer}];
        if (action == ActionKind::ReceiveForward || action == ActionKind::SendBackward)
            ++m_precedes[{peer, own}];
    }

    // Above 0 where messages that say what they are go along the chain, below where against it.
    [[nodiscard]] int directionOf(const std::vector<std::int32_t>& chain) const {
        const auto count = [&](std::int32_t from, std::int32_t to) {
            const auto found = m_precedes.find({from, to});
            return found == m_precedes.end() ? 0 : found->second;
        };
        int direction = 0;
        for (std::size_t i = 1; i < chain.size(); ++i)
            direction += count(chain[i - 1], chain[i]) - count(chain[i], chain[i - 1]);
        return direction;
    }

    // From an end to the other; empty where ranks have more than two neighbours.
    [[nodiscard]] std::vector<std::int32_t> chainFrom(std::int32_t end) const {
        std::vector<std::int32_t> chain = {end};
        for (std::int32_t before = -1;;) {
            const std::set<std::int32_t>& neighbours = m_neighbours.at(chain.back());
            if (neighbours.size() > 2) return {};
            std::int32_t next = -1;
            for (const std::int32_t neighbour : neighbours)
                if (neighbour != before) next = neighbour;
            if (next < 0) return chain;
            before = chain.back();
            chain.push_back(next);
        }
    }

    void place(std::vector<std::int32_t> chain) {
        if (chain.size() < 2) return;
        const auto votes = [&](std::int32_t number) {
            const auto found = m_sendsFirst.find(number);
            return found == m_sendsFirst.end() ? 0 : found->second;
        };
        const int said = directionOf(chain);
        const int forSame = said != 0 ? said : votes(chain.front()) - votes(chain.back());
        if (forSame == 0) return;
        if (forSame < 0) chain = {chain.rbegin(), chain.rend()};
        const auto stages = static_cast<std::int32_t>(chain.size());
        for (std::int32_t stage = 0; stage < stages; ++stage) {
            const auto at = static_cast<std::size_t>(stage);
            m_places[m_rankOf[chain[at]]] = {stage, stages, stage > 0 ? chain[at - 1] : -1,
                                             stage + 1 < stages ? chain[at + 1] : -1};
        }
    }

    const Draft& m_draft;
    base::IdVector<trace::RankTag, PipelinePlace> m_places;
    std::map<std::int32_t, RankId> m_rankOf;
    std::map<std::int32_t, std::set<std::int32_t>> m_neighbours;
    std::map<std::pair<std::int32_t, std::int32_t>, int> m_precedes;  // messages that say so
    std::map<std::int32_t, int>
        m_sendsFirst;  // iterations begun with a send, less those with a receive
};

}  // namespace

base::IdVector<trace::RankTag, PipelinePlace> pipelineChains(const Draft& draft) {
    return Chains(draft).run();
}

}  // namespace pleat::annotate
