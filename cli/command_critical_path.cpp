#include "cli/command_critical_path.h"

#include <memory>
#include <optional>
#include <string>

#include "analysis/path_analysis.h"
#include "analysis/rank_path.h"
#include "cli/trace_answer.h"
#include "report/json_report.h"
#include "report/path_report.h"
#include "report/rank_path_report.h"

namespace pleat::cli {
namespace {

struct Arguments {
    TraceQuestion question;
    std::optional<std::int32_t> iteration, rank;
};

template <class Path>
base::Result<std::string> rendered(const base::Result<Path>& path, Format format) {
    if (!path) return path.error();
    return format == Format::Json ? report::renderJson(*path) : report::renderText(*path);
}

int run(const Arguments& arguments) {
    const Format format = arguments.question.format;
    return answerQuestion(arguments.question, [&](const trace::Trace& trace) {
        // Where nothing names tasks, ranks have paths of their own only.
        if (arguments.rank || trace.annotations().tasks.empty()) {
            return rendered(analysis::analyseRankPath(trace, {arguments.rank, arguments.iteration}),
                            format);
        }
        return rendered(analysis::analysePath(trace, {arguments.iteration}), format);
    });
}

}  // namespace

void addCriticalPathCommand(CLI::App& app, int& exitStatus) {
    CLI::App* command = app.add_subcommand(
        "critical-path", "The chain of work across ranks that determines the iteration time");
    command->footer("Example: pleat critical-path demo.pleat --iteration 5");
    auto arguments = std::make_shared<Arguments>();
    addQuestion(*command, arguments->question, {Format::Text, Format::Json});
    command
        ->add_option("--iteration", arguments->iteration,
                     "Iteration to analyse (default: the one closest to the median)")
        ->type_name("N");
    command
        ->add_option("--of-rank", arguments->rank,
                     "The critical path of rank N alone, through its calls, launches, kernels and "
                     "waits; needs no named tasks")
        ->type_name("N");
    command->callback([arguments, &exitStatus] { exitStatus = run(*arguments); });
}

}  // namespace pleat::cli
