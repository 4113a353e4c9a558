#include "schedule/orders.h"

#include <algorithm>

#include "schedule/rank_order.h"

namespace pleat::schedule {

// All forwards, then all backwards in the same order.
std::vector<Action> gpipeOrder(const GeneratorOptions& options, const Placement& placement,
                               std::int32_t rank) {
    RankOrder order(placement, rank);
    for (std::int32_t m = 0; m < options.microbatches; ++m) order.forward({0, m});
    for (std::int32_t m = 0; m < options.microbatches; ++m) order.backward({0, m});
    return std::move(order).take();
}

std::vector<Action> oneForwardOneBackwardOrder(const GeneratorOptions& options,
                                               const Placement& placement, std::int32_t rank) {
    RankOrder order(placement, rank);
    const std::int32_t warmUp = std::min(options.ranks - rank - 1, options.microbatches);
    for (std::int32_t m = 0; m < warmUp; ++m) order.forward({0, m});
    for (std::int32_t m = warmUp; m < options.microbatches; ++m) {
        order.forward({0, m});
        order.backward({0, m - warmUp});
    }
    for (std::int32_t m = options.microbatches - warmUp; m < options.microbatches; ++m)
        order.backward({0, m});
    return std::move(order).take();
}

std::vector<Action> interleavedOrder(const GeneratorOptions& options, const Placement& placement,
                                     std::int32_t rank) {
    RankOrder order(placement, rank);
    std::vector<ChunkOfMicrobatch>
        forwards;  // groups of g microbatches, chunk after chunk within a group
    for (std::int32_t first = 0; first < options.microbatches; first += options.group) {
        const std::int32_t end = std::min(first + options.group, options.microbatches);
        for (std::int32_t chunk = 0; chunk < options.chunks; ++chunk) {
            for (std::int32_t m = first; m < end; ++m) forwards.push_back({chunk, m});
        }
    }
    const auto backward = [&](std::size_t k) {
        order.backward({options.chunks - 1 - forwards[k].chunk, forwards[k].microbatch});
    };
    const std::size_t warmUp =
        std::min(forwards.size(), static_cast<std::size_t>(2 * (options.ranks - rank - 1) +
                                                           (options.chunks - 1) * options.group));
    for (std::size_t k = 0; k < warmUp; ++k) order.forward(forwards[k]);
    for (std::size_t k = warmUp; k < forwards.size(); ++k) {
        order.forward(forwards[k]);
        backward(k - warmUp);
    }
    for (std::size_t k = forwards.size() - warmUp; k < forwards.size(); ++k) backward(k);
    return std::move(order).take();
}

std::vector<Action> foldedOrder(const GeneratorOptions& options, const Placement& placement,
                                std::int32_t rank) {
    RankOrder order(placement, rank);
    for (std::int32_t chunk = 0; chunk < options.chunks; ++chunk) {
        for (std::int32_t m = 0; m < options.microbatches; ++m) order.forward({chunk, m});
    }
    for (std::int32_t chunk = options.chunks - 1; chunk >= 0; --chunk) {
        for (std::int32_t m = options.microbatches - 1; m >= 0; --m) order.backward({chunk, m});
    }
    return std::move(order).take();
}

}  // namespace pleat::schedule
