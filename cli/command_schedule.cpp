#include "cli/command_schedule.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/say.h"
#include "base/text_file.h"
#include "cli/exit_status.h"
#include "cli/output_file.h"
#include "cli/shared_options.h"
#include "graph/simulate.h"
#include "report/family_report.h"
#include "report/json_report.h"
#include "report/simulation_report.h"
#include "schedule/family.h"
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
    Format format = Format::Text;
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

int list(const Arguments& arguments) {
    return finish(writeText(arguments.format == Format::Json
                                ? report::renderJson(schedule::families())
                                : report::renderText(schedule::families()),
                            arguments.output));
}

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

int simulate(const Arguments& arguments) {
    const base::Result<schedule::Schedule> schedule = chosen(arguments);
    if (!schedule) return fail(schedule.error());
    const base::Result<graph::Simulation> simulation = graph::simulate(*schedule, arguments.costs);
    if (!simulation) return fail(simulation.error().within(schedule->name + ": invalid schedule"));
    return finish(writeText(arguments.format == Format::Json
                                ? report::renderJson(*simulation)
                                : report::renderText(*schedule, *simulation),
                            arguments.output));
}

void addScheduleOptions(CLI::App& command, Arguments& arguments) {
    CLI::Option* file =
        command.add_option("--file", arguments.file, "A schedule CSV as PyTorch writes it")
            ->type_name("FILE");
    const auto add = [&](const char* name, auto& value, const std::string& what, const char* type) {
        command.add_option(name, value, what)->excludes(file)->type_name(type);
    };
    add("--schedule", arguments.name,
        fmt::format("{} (default: folded)", schedule::familyNamesInWords()), "NAME");
    add("--ranks", arguments.generator.ranks, "Pipeline ranks (default: 4)", "P");
    add("--microbatches", arguments.generator.microbatches, "Microbatches (default: 8)", "M");
    add("--chunks", arguments.generator.chunks, "Stages per rank (default: 1)", "V");
    add("--group", arguments.generator.group,
        "Microbatches per group, for interleaved (default: as many as ranks)", "G");
    addOutput(command, arguments.output);
}

// "1.5ms", or a whole number of nanoseconds.
base::Duration durationOf(const std::string& option, const std::string& given) {
    constexpr double kLongest = 1e12;  // ns
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double number = -1;
    const char* const last = given.data() + given.size();
    const auto [end, error] = std::from_chars(given.data(), last, number);
    const std::string_view unit(end, static_cast<std::size_t>(last - end));
    for (const auto& [name, nanoseconds] : kUnits) {
        const double ns = number * nanoseconds;
        if (error == std::errc() && unit == name && ns >= 0 && ns <= kLongest)
            return {std::llround(ns)};
    }
    throw CLI::ValidationError(
        option, given + ": expected a time from 0 to 1000 s, in ns or with a unit, e.g. 1.5ms");
}

void addCostOptions(CLI::App& command, Arguments& arguments) {
    const auto add = [&](const char* name, base::Duration& cost, const std::string& what) {
        command
            .add_option_function<std::string>(
                name, [name, &cost](const std::string& given) { cost = durationOf(name, given); },
                fmt::format("{} (default: {})", what, cost.ns))
            ->type_name("TIME");
    };
    add("--forward", arguments.costs.forward,
        "Forward of one microbatch through all of a rank's layers");
    add("--backward", arguments.costs.backward,
        "Backward of the same; where the schedule splits it, the input gradient");
    add("--weight", arguments.costs.weight, "Weight gradient, where the schedule splits it");
    add("--p2p", arguments.costs.message, "One message between ranks");
    add("--sync", arguments.costs.sync, "Gradient sync of all of a rank's layers");
    addFormat(command, arguments.format, {Format::Text, Format::Json});
}

}  // namespace

void addScheduleCommand(CLI::App& app, int& exitStatus) {
    CLI::App* schedule =
        app.add_subcommand("schedule", "List, show, validate, convert and simulate schedules");
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
    CLI::App* listed = schedule->add_subcommand("list", "List the schedules that have a name");
    listed->footer("Example: pleat schedule list --format json");
    addFormat(*listed, arguments->format, {Format::Text, Format::Json});
    addOutput(*listed, arguments->output);
    listed->callback([arguments, &exitStatus] { exitStatus = list(*arguments); });
    add("show", "Draw a schedule as a grid",
        "pleat schedule show --schedule 1f1b --ranks 4 --microbatches 8", show);
    add("validate", "Check that a schedule can run (exit status 1 if not)",
        "pleat schedule validate --schedule interleaved --ranks 4 --chunks 2 --microbatches 8",
        validate);
    add("convert", "Write a schedule as CSV",
        "pleat schedule convert --schedule folded --ranks 2 --chunks 2 --communication", convert)
        ->add_flag("--communication", arguments->communication,
                   "Insert the messages between ranks");
    CLI::App* simulated =
        add("simulate", "Predict makespan, bubble and memory",
            "pleat schedule simulate --schedule folded --ranks 4 --chunks 2 --microbatches 8 "
            "--sync 4ms",
            simulate);
    simulated->footer("TIME is in ns or has a unit: 1.5ms, 20us.\n" + simulated->get_footer());
    addCostOptions(*simulated, *arguments);
}

}  // namespace pleat::cli
