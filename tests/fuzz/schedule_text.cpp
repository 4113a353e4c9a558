// Schedule CSVs.
#include <string_view>

#include "fuzz/properties.h"
#include "graph/simulate.h"
#include "schedule/lower.h"
#include "schedule/schedule_csv.h"
#include "schedule/validate.h"

namespace pleat::fuzz {
namespace {

// Of a valid schedule only: one that is not may look like the older dialect when it is written.
void checkRoundTrip(const schedule::Schedule& given) {
    const auto again = schedule::readCsv(schedule::writeCsv(given), given.name);
    require(again.ok(), "a written schedule can be read");
    require(again->schedule == given, "a schedule is written as it was read");
    require(again->diagnostics.empty(), "a written schedule leaves nothing to guess");
}

void checkSimulation(const schedule::Schedule& given) {
    const graph::CostModel costs{{1'000'000}, {2'000'001}, {999'999}, {77}, {500'000}};
    const auto simulation = graph::simulate(given, costs);
    require(simulation.ok(), "a valid schedule can be simulated");
    require(simulation->bubbleFractionTotal >= 0 && simulation->bubbleFractionTotal <= 1,
            "the simulated bubble is a share");
    for (const graph::SimulatedRank& rank : simulation->ranks) {
        require(rank.busy <= simulation->makespan, "no rank is busy for longer than the whole");
        require(rank.peakActivations >= 0, "activations are no debt");
        for (const base::Duration window : rank.syncWindow)
            require(window >= base::Duration{}, "no sync window is negative");
    }
}

}  // namespace

void scheduleText(Bytes bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto read = schedule::readCsv(text, "fuzz.csv");
    if (!read) return checkError(read.error());
    const schedule::Schedule& given = read->schedule;
    require(!schedule::drawGrid(given).empty(), "every schedule can be drawn");
    const auto lowered = schedule::lower(given);
    if (const auto valid = schedule::validate(given); !valid) {
        checkError(valid.error());
        const graph::CostModel costs;
        require(!graph::simulate(given, costs).ok(), "an invalid schedule is not simulated");
        if (!lowered) checkError(lowered.error());
        return;
    }
    checkRoundTrip(given);
    checkSimulation(given);
    require(lowered.ok(), "a valid schedule can be given its messages");
    const auto valid = schedule::validate(*lowered);
    require(valid.ok(), "with its messages it is still valid: " +
                            (valid ? std::string() : valid.error().message));
    checkRoundTrip(*lowered);
    checkSimulation(*lowered);
}

}  // namespace pleat::fuzz
