#include "report/simulation_report.h"

#include <fmt/format.h>

namespace pleat::report {

std::string renderText(const schedule::Schedule& schedule, const graph::Simulation& simulation) {
    std::string text = fmt::format(
        "{}: {} rank{}, {} stage{}, {} microbatch{}\n"
        "makespan         {:>16} ns\n"
        "bubble / ideal   {:>16.6f}    idle time / compute time\n"
        "bubble / total   {:>16.6f}    idle time / (ranks x makespan)\n\n"
        "rank          busy ns  peak activations  sync window ns, chunk 0 first\n",
        schedule.name, schedule.ranks(), schedule.ranks() == 1 ? "" : "s",
        schedule.placement.stages(), schedule.placement.stages() == 1 ? "" : "s",
        schedule.microbatches, schedule.microbatches == 1 ? "" : "es", simulation.makespan.ns,
        simulation.bubbleFractionIdeal, simulation.bubbleFractionTotal);
    for (std::size_t rank = 0; rank < simulation.ranks.size(); ++rank) {
        const graph::SimulatedRank& one = simulation.ranks[rank];
        text += fmt::format("{:>4}  {:>15}  {:>16.3f} ", rank, one.busy.ns, one.peakActivations);
        for (const base::Duration window : one.syncWindow) text += fmt::format(" {}", window.ns);
        text += "\n";
    }
    return text;
}

}  // namespace pleat::report
