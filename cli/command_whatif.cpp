#include "cli/command_whatif.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "analysis/what_if.h"
#include "cli/exit_status.h"
#include "cli/iteration_option.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/json_report.h"
#include "report/what_if_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceInput input;
    std::string format = "text";
    std::vector<std::string> iterations;
    std::vector<std::string> ideal, scale, keep;
};

base::Result<analysis::ScaledKey> scaledKey(const std::string& given) {
    const std::size_t equals = given.rfind('=');
    const char* const end = given.data() + given.size();
    const char* const first = equals == std::string::npos ? end : given.data() + equals + 1;
    analysis::ScaledKey scaled{given.substr(0, equals), 0};
    const auto [after, error] = std::from_chars(first, end, scaled.factor);
    if (equals == 0 || error != std::errc() || after != end) {
        return base::Error{
            base::ErrorCode::Usage,
            fmt::format("--scale {}: expected KEY=FACTOR, e.g. transfer.dp=0.5", given)};
    }
    return scaled;
}

base::Result<analysis::WhatIfOptions> options(const Arguments& arguments) {
    analysis::WhatIfOptions chosen;
    auto iterations = iterationRanges(arguments.iterations);
    if (!iterations) return iterations.error();
    chosen.iterations = std::move(*iterations);
    chosen.ideal = arguments.ideal;
    chosen.keep = arguments.keep;
    for (const std::string& given : arguments.scale) {
        auto scaled = scaledKey(given);
        if (!scaled) return scaled.error();
        chosen.scale.push_back(std::move(*scaled));
    }
    return chosen;
}

int run(const Arguments& arguments) {
    const auto chosen = options(arguments);
    if (!chosen) return fail(chosen.error());
    const base::Result<trace::Trace> trace = openTrace(arguments.input);
    if (!trace) return fail(trace.error());
    const base::Result<analysis::WhatIf> answer = analysis::analyseWhatIf(*trace, *chosen);
    if (!answer) return fail(answer.error().within(arguments.input.name()));
    const auto written = writeText(
        arguments.format == "json" ? report::renderJson(*answer) : report::renderText(*answer), "");
    return written ? kDone : fail(written.error());
}

}  // namespace

void addWhatIfCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand(
        "whatif", "What an iteration would take if some of its work were faster or ideal");
    command->footer("Example: pleat whatif demo.pleat --ideal stage:1 --scale transfer.dp=0.5");
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command
        ->add_option("--ideal", arguments->ideal,
                     "KEY takes its ideal time: the usual of its operation. KEY: all, compute, "
                     "stage:2, rank:5, dp:1, microbatch:0, link:0-1, transfer.dp, an action kind "
                     "(F, B), an operation (all_reduce)")
        ->allow_extra_args(false);
    command
        ->add_option("--scale", arguments->scale,
                     "KEY=FACTOR: KEY takes FACTOR times as long; after --ideal")
        ->allow_extra_args(false);
    command
        ->add_option("--keep", arguments->keep,
                     "KEY stays as recorded in spite of --ideal and --scale")
        ->allow_extra_args(false);
    addIterationOption(*command, arguments->iterations);
    command->add_option("--format", arguments->format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
