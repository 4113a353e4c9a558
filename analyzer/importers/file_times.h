// Files that were read one after another into a builder, and how their times are brought together:
// on UTC where files tell it, so that what one of them waited for another stays visible. Nothing is
// aligned here; which files share a clock is noted in their ranks for annotate/clock_alignment.h.
#pragma once

#include <vector>

#include "importers/file_facts.h"

namespace pleat::importers {

// Adds every file's base to its times, gives its ranks their clock, and moves the earliest event of
// all to 0 (`keepZero`: leaves it where it is). A file whose times count from a moment of its own
// begins with the earliest that is on UTC. Said: "time_base_guessed", "host_guessed".
void bringTogether(std::vector<ReadFile>& files, bool keepZero, trace::TraceBuilder& builder);

}  // namespace pleat::importers
