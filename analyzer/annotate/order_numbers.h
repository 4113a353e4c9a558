// Numbers for collectives that carry none: NCCL runs those of a communicator in the same order on
// all its members, so the n-th of one is the n-th of the other, give or take those that ran before
// a rank's recording began and those that its recorder lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "annotate/draft.h"

namespace pleat::annotate {

// Of one group; put in order of their start.
using CollectivesOfRanks = std::map<trace::RankId, std::vector<trace::TransferId>>;

struct OrderNumber {
    trace::TransferId transfer;
    std::int64_t number = 0;
};

// Numbers that members of one collective share. Nothing where some rank ran others or in another
// order ("collectives_differ"). "order_shifted": a rank began some collectives later or earlier
// than the others; "order_unsure": that could not be told; "collective_lost": it has no part in
// some that others have between those it took part in.
[[nodiscard]] std::optional<std::vector<OrderNumber>> numbersByOrder(Draft& draft,
                                                                     CollectivesOfRanks& ofRanks);

// The same of collectives whose iterations the program said: the n-th on each rank where all ran as
// many in every iteration, or where no order fits.
[[nodiscard]] std::vector<OrderNumber> numbersByIteration(Draft& draft,
                                                          CollectivesOfRanks& ofRanks);

// Gives every collective of a device that carries no number its own, group by group. Those that do
// not say their communicator either are taken as of one of all ranks ("communicator_guessed").
void numberCollectives(Draft& draft);

}  // namespace pleat::annotate
