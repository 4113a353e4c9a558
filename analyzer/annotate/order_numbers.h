// Numbers for collectives that carry none: NCCL runs those of a communicator in the same order on
// all its members, so the n-th of one is the n-th of the other, give or take those that ran before
// a rank's recording began.
#pragma once

#include <map>
#include <vector>

#include "annotate/draft.h"

namespace pleat::annotate {

// Of one group; put in order of their start.
using CollectivesOfRanks = std::map<trace::RankId, std::vector<trace::TransferId>>;

// Sets their sequence. False, with none set, where some rank ran other operations or in another
// order ("collectives_differ"). "order_shifted": a rank began some collectives later or earlier
// than the others; "order_unsure": that could not be told.
bool numberByOrder(Draft& draft, CollectivesOfRanks& ofRanks);

}  // namespace pleat::annotate
