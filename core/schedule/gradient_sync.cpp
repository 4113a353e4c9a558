#include "schedule/gradient_sync.h"

#include <map>
#include <set>

namespace pleat::schedule {

std::vector<Action> withGradientSync(const std::vector<Action>& order) {
    std::map<std::int32_t, std::size_t> lastBackward;
    std::set<std::int32_t> synced;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i].kind == ActionKind::FullBackward) lastBackward[order[i].stage] = i;
        if (order[i].kind == ActionKind::ReduceGradient) synced.insert(order[i].stage);
    }
    std::vector<Action> completed;
    completed.reserve(order.size() + lastBackward.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        completed.push_back(order[i]);
        const std::int32_t stage = order[i].stage;
        const auto last = lastBackward.find(stage);
        if (last != lastBackward.end() && last->second == i && !synced.contains(stage)) {
            completed.push_back({stage, ActionKind::ReduceGradient, -1, {}});
        }
    }
    return completed;
}

}  // namespace pleat::schedule
