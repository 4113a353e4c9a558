#include "cli/command_record.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "annotate/annotate.h"
#include "base/exceptions.h"
#include "base/say.h"
#include "cli/exit_status.h"
#include "cli/shared_options.h"
#include "collector/recorder.h"
#include "store/reader.h"
#include "store/writer.h"

namespace pleat::cli {
namespace {

struct Arguments {
    collector::RecordOptions options;
    std::string output = "run.pleat";
    double delay = 0;
    double duration = -1;
    std::int64_t maximumBytes = -1;
    std::int64_t flushMilliseconds = 100;
    bool noNvtx = false;
};

base::Result<void> annotateFile(const std::string& file) {
    base::Result<store::LoadedTrace> loaded = store::load(file);
    if (!loaded) return loaded.error();
    base::Result<trace::Trace> annotated = annotate::annotate(loaded->trace);
    if (!annotated) return annotated.error();
    return store::writeAnnotations(*annotated, file);
}

void printOutcome(const std::string& file, const collector::RecordOutcome& outcome) {
    base::say(fmt::format("pleat: {}: {} event{}, {} process{}", file, outcome.events,
                          outcome.events == 1 ? "" : "s", outcome.processes,
                          outcome.processes == 1 ? "" : "es"));
    for (const base::Diagnostic& diagnostic : outcome.diagnostics.entries()) {
        if (diagnostic.severity == base::Severity::Info) continue;
        base::say(fmt::format("pleat: {} ({}x): {}", diagnostic.code, diagnostic.count,
                              diagnostic.example));
    }
}

int run(Arguments& arguments) {
    collector::RecordOptions& options = arguments.options;
    options.output = arguments.output;
    options.nvtx = !arguments.noNvtx;
    options.delay = std::chrono::duration<double>(arguments.delay);
    if (arguments.duration >= 0)
        options.duration = std::chrono::duration<double>(arguments.duration);
    if (arguments.maximumBytes >= 0) options.maximumBytes = arguments.maximumBytes;
    options.flushInterval = std::chrono::milliseconds(arguments.flushMilliseconds);

    const base::Result<collector::RecordOutcome> outcome = collector::record(options);
    if (!outcome) return fail(outcome.error());
    if (!outcome->started) return outcome->exitStatus;
    // The recording is safe in the file by now; whatever fails from here on must not change the
    // command's status.
    (void)base::contained([&] {
        const base::Result<void> annotated =
            base::contained([&] { return annotateFile(arguments.output); });
        if (annotated) return;
        base::say(fmt::format("pleat: {}: recorded, but its tasks could not be stored: {}",
                              arguments.output, annotated.error().message));
    });
    (void)base::contained([&] { printOutcome(arguments.output, *outcome); });
    return outcome->exitStatus;
}

const CLI::Validator kSeconds(
    [](std::string& text) {
        const char* wrong = "expected a number of seconds, 0 or more, e.g. 2.5";
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool number = error == std::errc() && end == text.data() + text.size();
        return number && value >= 0 && value < 1e9 ? std::string() : text + ": " + wrong;
    },
    "");

const CLI::Validator kPositive(
    [](std::string& text) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool number = error == std::errc() && end == text.data() + text.size();
        return number && value > 0 ? std::string() : text + ": expected a whole number above 0";
    },
    "");

}  // namespace

void addRecordCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand("record", "Run a command and record its NVTX ranges");
    command->footer(
        "The exit status is the command's.\n"
        "Example: pleat record -o run.pleat -- pleat-train --dp 2 --pp 2 --schedule folded "
        "--chunks 2 --steps 3");
    auto arguments = std::make_shared<Arguments>();
    addNewTrace(*command, arguments->output);
    command
        ->add_option("--domain", arguments->options.domains,
                     "Record only this NVTX domain (repeatable)")
        ->allow_extra_args(false)
        ->type_name("NAME");
    command->add_flag("--no-nvtx", arguments->noNvtx, "Run the command without recording NVTX");
    const auto add = [&](const char* name, auto& value, const char* what, const char* type,
                         const CLI::Validator& check) {
        command->add_option(name, value, what)->check(check)->type_name(type);
    };
    add("--delay", arguments->delay, "Start recording after this time", "SECONDS", kSeconds);
    add("--duration", arguments->duration, "Stop recording after this time", "SECONDS", kSeconds);
    add("--max-size", arguments->maximumBytes, "Stop recording when the trace is this large",
        "BYTES", kPositive);
    add("--flush-ms", arguments->flushMilliseconds,
        "Write to the file this often, in milliseconds (default: 100)", "N", kPositive);
    command
        ->add_option("COMMAND", arguments->options.command,
                     "The command and its arguments, after --")
        ->required()
        ->type_name("");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
