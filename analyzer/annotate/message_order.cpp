#include "annotate/message_order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pleat::annotate {

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
