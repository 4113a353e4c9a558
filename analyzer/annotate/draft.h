// An annotation in the making, and what all readers of events do with it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/id.h"
#include "trace/trace.h"

namespace pleat::annotate {

struct Draft {
    const trace::Trace& events;
    base::IdVector<trace::RankTag, trace::Rank> ranks;
    trace::Annotations found;  // tasks, transfers, phases, iterations
    // Every iteration range with the open ones: they tell where what lies inside belongs.
    std::vector<trace::IterationSpan> enclosing;
    base::Diagnostics diagnostics;
    // Nothing tells which stage of a pipeline the tasks are of; they stand at stage 0.
    bool stagesUnknown = false;
    // Host ranges that a framework's names make transfers, ascending: where their rank's kernels
    // are recorded, these are the transfers, and a range says only what they are for.
    std::vector<trace::EventId> frameworkTransfers = {};
    // Events that are several transfers, ascending: a batch of a send and a receive in one range.
    std::vector<trace::EventId> transferBatches = {};

    [[nodiscard]] trace::RankId rankOf(const trace::Event& event) const {
        return events.lanes()[event.lane].rank;
    }
    // What the host's threads say of a process with several devices holds for each: its number, its
    // place, its iterations. Once, when all readers are done.
    void shareAmongDevices();
    // Whether the process ids of these, which do not say their rank numbers, are rank numbers: two
    // or more that are 0, 1, 2, ... , which no operating system gives.
    [[nodiscard]] bool pidsAreRanks(const std::set<trace::RankId>& of) const;
    // Puts everything found in the order the trace promises: by rank, then start.
    void sort();
};

// Process groups that have a name, not a number.
class NamedGroups {
  public:
    explicit NamedGroups(Draft& draft) : m_draft(draft) {}
    // The group of this name, made when it is new; `member` becomes one of its members. `size` 0:
    // as many as are seen.
    trace::GroupId join(const std::string& name, trace::Dimension dimension, std::int32_t size,
                        trace::RankId member);
    // Orders the members. Once, at the end.
    void finish();

  private:
    Draft& m_draft;
    std::map<std::string, trace::GroupId> m_groups;
    std::int64_t m_next = 0;  // above the native ids of the first m_counted groups
    std::size_t m_counted = 0;
};

}  // namespace pleat::annotate
