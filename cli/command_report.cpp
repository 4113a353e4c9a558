#include "cli/command_report.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>

#include "analysis/run_analysis.h"
#include "cli/exit_status.h"
#include "cli/text_file.h"
#include "cli/trace_input.h"
#include "report/json_report.h"
#include "report/text_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceInput input;
    std::string format = "text";
    std::string output;
    std::string iterations;
};

bool readNumber(std::string_view text, std::int32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

// "A:B", both included, or "A".
base::Result<analysis::AnalysisOptions> options(const std::string& iterations) {
    analysis::AnalysisOptions result;
    if (iterations.empty()) return result;
    const std::size_t colon = iterations.find(':');
    analysis::IterationRange range{};
    const std::string_view whole = iterations;
    if (!readNumber(whole.substr(0, colon), range.first) ||
        !readNumber(colon == std::string::npos ? whole : whole.substr(colon + 1), range.last) ||
        range.first > range.last) {
        return base::Error{base::ErrorCode::Usage,
                           fmt::format("--iterations {}: expected A:B with A <= B, both included, "
                                       "e.g. 2:11, or one number",
                                       iterations)};
    }
    result.iterations = range;
    return result;
}

int run(const Arguments& arguments) {
    const base::Result<analysis::AnalysisOptions> chosen = options(arguments.iterations);
    if (!chosen) return fail(chosen.error());
    if (const auto allowed = arguments.input.mayWriteTo(arguments.output); !allowed)
        return fail(allowed.error());
    const base::Result<trace::Trace> trace = openTrace(arguments.input);
    if (!trace) return fail(trace.error());
    const base::Result<analysis::RunAnalysis> analysed = analysis::analyseRun(*trace, *chosen);
    if (!analysed) return fail(analysed.error().within(arguments.input.name()));
    const auto written = writeText(
        arguments.format == "json" ? report::renderJson(*analysed) : report::renderText(*analysed),
        arguments.output);
    return written ? kDone : fail(written.error());
}

}  // namespace

void addReportCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command =
        app.add_subcommand("report", "Where the iteration went: the whole analysis");
    command->footer("Example: pleat report demo.pleat --format json -o report.json");
    auto arguments = std::make_shared<Arguments>();
    addTraceInput(*command, arguments->input);
    command->add_option("--format", arguments->format, "text or json")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    command->add_option("-o,--output", arguments->output,
                        "Write to this file instead of standard output");
    command->add_option("--iterations", arguments->iterations,
                        "Only iterations A:B, both included, or one");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
