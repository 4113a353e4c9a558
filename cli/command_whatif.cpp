#include "cli/command_whatif.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "analysis/what_if.h"
#include "cli/trace_answer.h"
#include "report/json_report.h"
#include "report/what_if_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceQuestion question;
    analysis::WhatIfOptions changes;
};

analysis::ScaledKey scaledKey(const std::string& given) {
    const std::size_t equals = given.rfind('=');
    const char* const end = given.data() + given.size();
    const char* const first = equals == std::string::npos ? end : given.data() + equals + 1;
    analysis::ScaledKey scaled{given.substr(0, equals), 0};
    const auto [after, error] = std::from_chars(first, end, scaled.factor);
    if (equals == 0 || error != std::errc() || after != end) {
        throw CLI::ValidationError(
            "--scale", fmt::format("{}: expected KEY=FACTOR, e.g. transfer.dp=0.5", given));
    }
    return scaled;
}

int run(const Arguments& arguments) {
    return answerQuestion(
        arguments.question, [&](const trace::Trace& trace) -> base::Result<std::string> {
            const auto answer = analysis::analyseWhatIf(trace, arguments.changes);
            if (!answer) return answer.error();
            return arguments.question.format == Format::Json ? report::renderJson(*answer)
                                                             : report::renderText(*answer);
        });
}

void addChanges(CLI::App& command, analysis::WhatIfOptions& changes) {
    command
        .add_option("--ideal", changes.ideal,
                    "Replace KEY's durations by the typical one of its operation (repeatable)")
        ->allow_extra_args(false)
        ->type_name("KEY");
    command
        .add_option_function<std::vector<std::string>>(
            "--scale",
            [&changes](const std::vector<std::string>& given) {
                for (const std::string& one : given) changes.scale.push_back(scaledKey(one));
            },
            "Multiply KEY's durations by FACTOR, after --ideal (repeatable)")
        ->allow_extra_args(false)
        ->type_name("KEY=FACTOR");
    command
        .add_option("--keep", changes.keep,
                    "Keep KEY as recorded, even if --ideal or --scale selects it (repeatable)")
        ->allow_extra_args(false)
        ->type_name("KEY");
}

}  // namespace

void addWhatIfCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand(
        "whatif", "How long an iteration would take if part of its work were faster or ideal");
    command->footer(
        "KEY selects work: all, compute, stage:2, rank:5, dp:1, microbatch:0, link:0-1, pause:3, "
        "transfer.dp, an action kind (F, B) or an operation (all_reduce).\n"
        "Example: pleat whatif demo.pleat --ideal stage:1 --scale transfer.dp=0.5");
    auto arguments = std::make_shared<Arguments>();
    addQuestion(*command, arguments->question, {Format::Text, Format::Json});
    addIterations(*command, arguments->changes.iterations);
    addChanges(*command, arguments->changes);
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
