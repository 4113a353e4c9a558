#include "annotate/message_order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pleat::annotate {
namespace {

// How many microbatches each iteration of a first rank had; empty where that cannot be told.
std::vector<std::size_t> microbatchesByIteration(const Draft& draft, const RankIteration& first) {
    struct Passage {
        base::TraceTime time;
        bool came = false;  // a gradient; else an activation that went
    };
    std::vector<Passage> passages;
    for (const trace::TransferId id : first.sent[Forward])
        passages.push_back({draft.found.transfers[id].span.begin, false});
    for (const trace::TransferId id : first.received[Backward])
        passages.push_back({draft.found.transfers[id].span.end, true});
    std::stable_sort(passages.begin(), passages.end(),
                     [](const Passage& a, const Passage& b) { return a.time < b.time; });
    std::vector<std::size_t> counts;
    std::size_t inside = 0, sent = 0;
    for (const Passage& passage : passages) {
        if (passage.came && inside == 0) return {};
        passage.came ? --inside : ++inside;
        sent += passage.came ? 0 : 1;
        if (inside > 0) continue;
        counts.push_back(sent);
        sent = 0;
    }
    return inside == 0 ? counts : std::vector<std::size_t>();
}

void number(Draft& draft, const RankIteration& of, const std::vector<std::size_t>& counts) {
    for (const Flow flow : {Forward, Backward}) {
        for (const auto* list : {&of.sent[flow], &of.received[flow]}) {
            std::size_t next = 0;
            for (std::size_t iteration = 0; iteration < counts.size(); ++iteration) {
                for (std::size_t i = 0; i < counts[iteration] && next < list->size(); ++i)
                    draft.found.transfers[(*list)[next++]].iteration =
                        static_cast<std::int32_t>(iteration);
            }
        }
    }
}

}  // namespace

void numberIterations(Draft& draft) {
    if (!draft.enclosing.empty()) return;
    const std::vector<RankIteration> all = messagesOfRanks(draft);
    std::vector<std::size_t> counts;
    for (const RankIteration& of : all) {
        if (of.place.stage != 0) continue;
        const auto own = microbatchesByIteration(draft, of);
        if (own.empty() || (!counts.empty() && own != counts)) return;
        counts = own;
    }
    std::size_t messages = 0;
    for (const std::size_t count : counts) messages += count;
    const bool sameEverywhere = std::all_of(all.begin(), all.end(), [&](const RankIteration& of) {
        return of.isComplete(static_cast<std::int32_t>(messages));
    });
    if (counts.empty() || !sameEverywhere) return;
    for (const RankIteration& of : all) number(draft, of, counts);
    draft.diagnostics.add(
        "iteration_guessed",
        "no iteration is marked; each is assumed to end when the first rank has received "
        "as many gradients as it sent activations",
        static_cast<std::int64_t>(counts.size()));
}

bool RankIteration::isComplete(std::int32_t microbatches) const {
    const auto all = static_cast<std::size_t>(microbatches);
    const bool first = place.stage == 0, last = place.stage + 1 == place.stages;
    return received[Forward].size() == (first ? 0 : all) &&
           sent[Backward].size() == (first ? 0 : all) && sent[Forward].size() == (last ? 0 : all) &&
           received[Backward].size() == (last ? 0 : all);
}

std::vector<RankIteration> messagesOfRanks(const Draft& draft) {
    const auto places = pipelineChains(draft);
    std::map<std::pair<trace::RankId, std::int32_t>, RankIteration> found;
    const auto& transfers = draft.found.transfers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto id = trace::TransferId::at(i);
        const trace::Transfer& transfer = transfers[id];
        const PipelinePlace& place = places[transfer.rank];
        const bool sends = transfer.operation == trace::Operation::Send;
        if ((!sends && transfer.operation != trace::Operation::Receive) || place.stage < 0 ||
            (transfer.peer != place.previous && transfer.peer != place.next) || transfer.peer < 0)
            continue;
        const std::int32_t iteration = std::max(transfer.iteration, 0);
        RankIteration& of = found[{transfer.rank, iteration}];
        of.rank = transfer.rank;
        of.iteration = iteration;
        of.place = place;
        const Flow flow = sends == (transfer.peer == place.next) ? Forward : Backward;
        (sends ? of.sent : of.received)[flow].push_back(id);
    }
    std::vector<RankIteration> all;
    for (auto& [key, messages] : found) all.push_back(std::move(messages));
    return all;
}

}  // namespace pleat::annotate
