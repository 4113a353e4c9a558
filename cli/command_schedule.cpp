#include "cli/command_schedule.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/say.h"
#include "base/text_file.h"
#include "cli/exit_status.h"
#include "cli/text_file.h"
#include "graph/simulate.h"
#include "schedule/generators.h"
#include "schedule/lower.h"
#include "schedule/schedule_csv.h"
#include "schedule/validate.h"

namespace pleat::cli {
namespace {

struct Arguments {
    std::string name = "folded";
    schedule::GeneratorOptions generator{.ranks = 4, .microbatches = 8, .chunks = 1, .group = 0};
    std::string file;
    std::string output;
    bool communication = false;
    std::string format = "text";
    graph::CostModel costs;
};

// The schedule of --file or --schedule; what the file's reader had to guess goes to stderr.
base::Result<schedule::Schedule> chosen(const Arguments& arguments) {
    if (arguments.file.empty()) return schedule::makeSchedule(arguments.name, arguments.generator);
    const base::Result<std::string> text = base::readTextFile(arguments.file);
    if (!text) return text.error();
    base::Result<schedule::CsvSchedule> read = schedule::readCsv(*text, arguments.file);
    if (!read) return read.error();
    for (const base::Diagnostic& diagnostic : read->diagnostics.entries()) {
        base::say(fmt::format("pleat: {} ({}x): {}", diagnostic.code, diagnostic.count,
                              diagnostic.example));
    }
    return std::move(read->schedule);
}

int finish(const base::Result<void>& done) { return done ? kDone : fail(done.error()); }

int show(const Arguments& arguments) {
    const base::Result<schedule::Schedule> schedule = chosen(arguments);
    if (!schedule) return fail(schedule.error());
    if (const auto written = writeText(schedule::drawGrid(*schedule), arguments.output); !written) {
        return fail(written.error());
    }
    const base::Result<void> valid = schedule::validate(*schedule);
    if (valid) return kDone;
    base::say(fmt::format("pleat: {}: invalid: {}", schedule->name, valid.error().message));
    return kAnswerIsNo;
}

int validate(const Arguments& arguments) {
    const base::Result<schedule::Schedule> schedule = chosen(arguments);
    if (!schedule) return fail(schedule.error());
    const base::Result<void> valid = schedule::validate(*schedule);
    const std::string answer =
        valid ? fmt::format("{}: valid: {} ranks, {} stages, {} microbatches\n", schedule->name,
                            schedule->ranks(), schedule->placement.stages(), schedule->microbatches)
              : fmt::format("{}: invalid: {}\n{}", schedule->name, valid.error().message,
                            schedule::drawGrid(*schedule));
    if (const auto written = writeText(answer, arguments.output); !written)
        return fail(written.error());
    return valid ? kDone : kAnswerIsNo;
}

int convert(const Arguments& arguments) {
    base::Result<schedule::Schedule> schedule = chosen(arguments);
    if (!schedule) return fail(schedule.error());
    if (const auto valid = schedule::validate(*schedule); !valid)
        return fail(valid.error().within(schedule->name + ": invalid schedule"));
    if (arguments.communication) schedule = schedule::lower(*schedule);
    if (!schedule) return fail(schedule.error());
    return finish(writeText(schedule::writeCsv(*schedule), arguments.output));
}

std::string simulationText(const schedule::Schedule& schedule,
                           const graph::Simulation& simulation) {
    std::string text = fmt::format(
        "{}: {} ranks, {} stages, {} microbatches\n"
        "makespan         {:>16} ns\n"
        "bubble / ideal   {:>16.6f}    idle over the work there is\n"
        "bubble / total   {:>16.6f}    idle over ranks x makespan\n\n"
        "rank          busy ns  peak activations  sync window ns, chunk 0 first\n",
        schedule.name, schedule.ranks(), schedule.placement.stages(), schedule.microbatches,
        simulation.makespan.ns, simulation.bubbleFractionIdeal, simulation.bubbleFractionTotal);
    for (std::size_t rank = 0; rank < simulation.ranks.size(); ++rank) {
        const graph::SimulatedRank& one = simulation.ranks[rank];
        text += fmt::format("{:>4}  {:>15}  {:>16.3f} ", rank, one.busy.ns, one.peakActivations);
        for (const base::Duration window : one.syncWindow) text += fmt::format(" {}", window.ns);
        text += "\n";
    }
    return text;
}

std::string simulationJson(const graph::Simulation& simulation) {
    nlohmann::ordered_json json = {{"makespan_ns", simulation.makespan.ns},
                                   {"bubble_fraction_ideal", simulation.bubbleFractionIdeal},
                                   {"bubble_fraction_total", simulation.bubbleFractionTotal},
                                   {"ranks", nlohmann::ordered_json::array()}};
    for (const graph::SimulatedRank& rank : simulation.ranks) {
        nlohmann::ordered_json windows = nlohmann::ordered_json::array();
        for (const base::Duration window : rank.syncWindow) windows.push_back(window.ns);
        json["ranks"].push_back({{"busy_ns", rank.busy.ns},
                                 {"peak_activations", rank.peakActivations},
                                 {"sync_window_ns", std::move(windows)}});
    }
    return json.dump(2) + "\n";
}

int simulate(const Arguments& arguments) {
    const base::Result<schedule::Schedule> schedule = chosen(arguments);
    if (!schedule) return fail(schedule.error());
    const base::Result<graph::Simulation> simulation = graph::simulate(*schedule, arguments.costs);
    if (!simulation) return fail(simulation.error().within(schedule->name + ": invalid schedule"));
    return finish(writeText(arguments.format == "json" ? simulationJson(*simulation)
                                                       : simulationText(*schedule, *simulation),
                            arguments.output));
}

void addScheduleOptions(CLI::App& command, Arguments& arguments) {
    CLI::Option* file =
        command.add_option("--file", arguments.file, "A schedule CSV as PyTorch writes it");
    command.add_option("--schedule", arguments.name, "gpipe, 1f1b, interleaved or folded")
        ->capture_default_str()
        ->excludes(file);
    command.add_option("--ranks", arguments.generator.ranks, "Pipeline ranks")
        ->capture_default_str()
        ->excludes(file);
    command.add_option("--microbatches", arguments.generator.microbatches, "Microbatches")
        ->capture_default_str()
        ->excludes(file);
    command.add_option("--chunks", arguments.generator.chunks, "Stages per rank")
        ->capture_default_str()
        ->excludes(file);
    command
        .add_option("--group", arguments.generator.group,
                    "interleaved: microbatches per group; 0: as many as ranks")
        ->capture_default_str()
        ->excludes(file);
    command.add_option("-o,--output", arguments.output,
                       "Write to this file instead of standard output");
}

void addCostOptions(CLI::App& command, Arguments& arguments) {
    const auto add = [&](const char* name, base::Duration& cost, const char* what) {
        command.add_option(name, cost.ns, what)
            ->capture_default_str()
            ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000'000}));
    };
    add("--forward", arguments.costs.forward,
        "Forward of one microbatch over a rank's whole share, ns");
    add("--backward", arguments.costs.backward, "Backward (input gradient where split), ns");
    add("--weight", arguments.costs.weight, "Weight gradient where split, ns");
    add("--p2p", arguments.costs.message, "One message between ranks, ns");
    add("--sync", arguments.costs.sync, "Gradient sync of a rank's whole share, ns");
    command.add_option("--format", arguments.format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace

void addScheduleCommand(CLI::App& app, int& exitStatus) {
    CLI::App* schedule =
        app.add_subcommand("schedule", "Show, check, convert and simulate schedules");
    schedule->require_subcommand(1);
    schedule->footer(
        "Example: pleat schedule show --schedule folded --ranks 2 --chunks 2 --microbatches 4");
    auto arguments = std::make_shared<Arguments>();
    const auto add = [&](const char* name, const char* what, const char* example,
                         int (*run)(const Arguments&)) {
        CLI::App* command = schedule->add_subcommand(name, what);
        command->footer(fmt::format("Example: {}", example));
        addScheduleOptions(*command, *arguments);
        command->callback([arguments, run, &exitStatus] { exitStatus = run(*arguments); });
        return command;
    };
    add("show", "Draw the grid", "pleat schedule show --schedule 1f1b --ranks 4 --microbatches 8",
        show);
    add("validate", "Say whether it can run; exit status 1 when not",
        "pleat schedule validate --schedule interleaved --ranks 4 --chunks 2 --microbatches 8",
        validate);
    add("convert", "Write it as a schedule CSV",
        "pleat schedule convert --schedule folded --ranks 2 --chunks 2 --communication", convert)
        ->add_flag("--communication", arguments->communication,
                   "Insert the messages between ranks");
    addCostOptions(*add("simulate", "Predict its times",
                        "pleat schedule simulate --schedule folded --ranks 4 --chunks 2 "
                        "--microbatches 8 --sync 4000000",
                        simulate),
                   *arguments);
}

}  // namespace pleat::cli
