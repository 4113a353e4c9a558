// How long work would take if nothing were wrong with it. Of coarse timers that is one duration per
// operation over the whole run, as in the published analysis. Elsewhere a suspect is compared with
// its peers, so that what is slow does not raise its own ideal: a rank and a replica with the same
// stages of others (with all other ranks where there are none), a stage with the other stages, a
// link with the other links, a microbatch with the others on the same rank. An ideal pause is the
// usual pause of the same kind on other ranks, and never longer than the one recorded. Definitions
// in docs/analysis.md. Pure functions.
#pragma once

#include <array>
#include <vector>

#include "analysis/replay_model.h"
#include "analysis/suspects.h"

namespace pleat::analysis {

// [cell] and [pause cell], in ns. Empty where one ideal per operation serves all.
struct IdealTable {
    std::vector<double> cells, pauses;
};

// If everything outside the suspect were usual and the suspect were as its peers outside are.
// O(cells log cells).
[[nodiscard]] IdealTable idealTable(const ReplayModel& model, const Suspect& suspect);

[[nodiscard]] TimeOf idealTimes(const ReplayModel& model, IdealTable table);
// Of the suspect, and of the whole run.
[[nodiscard]] TimeOf idealTimes(const ReplayModel& model, const Suspect& suspect);
[[nodiscard]] TimeOf idealTimes(const ReplayModel& model);

// What a suspect's own nodes take ideally, for all suspects at once: looked up by node instead of
// made for each. The duration and delay equal those of idealTimes(model, suspect).
class OwnIdeals {
  public:
    // `suspects`: all that will be asked for.
    OwnIdeals(const ReplayModel& model, const std::vector<Suspect>& suspects);

    // `node` is one that the suspect covers, in its work or its pauses.
    [[nodiscard]] NodeTime of(const Suspect& suspect, const ReplayIteration& iteration,
                              std::size_t node) const;

  private:
    const ReplayModel& m_model;
    // [kind][cell]: a cell is part of one suspect of each of these kinds.
    std::array<IdealTable, kSuspectKindCount> m_byKind;
};

}  // namespace pleat::analysis
