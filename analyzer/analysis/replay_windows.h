// Which iterations are replayed together, and where in their graph each begins and ends. Pure
// functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/replay_model.h"
#include "graph/iteration_windows.h"
#include "graph/run_index.h"

namespace pleat::analysis {

// A graph of a long run is made in parts: one of hundreds of megabytes costs more to make than its
// parts do, and what an iteration leaves over is forgotten within a few others.
inline constexpr std::size_t kMostTogetherNodes = 200'000;
inline constexpr std::size_t kFewestTogether = 16;  // windows, however large

// How many of the windows, from the first on, follow each other in the run and are replayed in one
// graph.
[[nodiscard]] std::size_t stretchFrom(const graph::RunIndex& run,
                                      std::span<const graph::IterationWindow> windows);

// The next one in the run; null for the last.
[[nodiscard]] const graph::IterationWindow* windowAfter(const graph::RunIndex& run,
                                                        std::int32_t iteration);

// With the window before, where there is one: what its ranks still do holds up the first.
[[nodiscard]] std::vector<graph::IterationWindow> withWarmUp(
    const graph::RunIndex& run, std::span<const graph::IterationWindow> windows);

// Fills in the windows of a stretch whose graph is made; `next` follows them in the run, where
// there is one. False where they do not all begin with work, and so cannot be replayed together.
[[nodiscard]] bool layOut(ReplayIteration& stretch, std::span<const graph::IterationWindow> windows,
                          const graph::IterationWindow* next);

}  // namespace pleat::analysis
