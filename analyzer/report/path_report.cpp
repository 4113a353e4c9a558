#include "report/path_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/headline.h"
#include "report/text_report.h"
#include "report/units.h"

namespace pleat::report {
namespace {

constexpr std::size_t kMostPieces = 40;
constexpr std::size_t kMostTasks = 20;

std::string known(std::int32_t value) { return value < 0 ? "-" : fmt::format("{}", value); }

std::string renderPieces(const std::vector<analysis::PathRun>& runs) {
    std::string text =
        "\nThe path, first to last (neighbours of one kind, rank and stage merged)\n";
    text += fmt::format("{:>12} {:>12} {:>5} {:>5} {:>7}  {}\n", "at ms", "length ms", "rank",
                        "stage", "pieces", "kind");
    for (std::size_t i = 0; i < std::min(runs.size(), kMostPieces); ++i) {
        const analysis::PathRun& run = runs[i];
        text += fmt::format("{:>12} {:>12} {:>5} {:>5} {:>7}  {}\n", milliseconds(run.offset),
                            milliseconds(run.length), known(run.rank), known(run.stage), run.pieces,
                            run.kind);
    }
    if (runs.size() > kMostPieces)
        text +=
            fmt::format("  and {} more; --format json has them all\n", runs.size() - kMostPieces);
    return text;
}

std::string renderTasks(const std::vector<analysis::TaskSlack>& tasks) {
    std::string text = "\nTasks with the least slack (how much longer each may take for free)\n";
    text += fmt::format("{:>12} {:>12} {:>5}  {}\n", "slack ms", "length ms", "rank", "task");
    for (std::size_t i = 0; i < std::min(tasks.size(), kMostTasks); ++i) {
        text += fmt::format("{:>12} {:>12} {:>5}  {}\n", milliseconds(tasks[i].slack),
                            milliseconds(tasks[i].duration), known(tasks[i].rank), tasks[i].name);
    }
    if (tasks.size() > kMostTasks)
        text += fmt::format("  and {} with as much or more\n", tasks.size() - kMostTasks);
    return text;
}

}  // namespace

std::string renderText(const analysis::PathAnalysis& analysis) {
    return renderProblems(headlineOf(analysis).problems) +
           fmt::format("Critical path of iteration {}: {} ms, the whole iteration\n",
                       analysis.iteration, milliseconds(analysis.summary.length)) +
           renderPathShares(analysis.summary) + renderPieces(analysis.runs) +
           renderTasks(analysis.tasks) + renderDiagnostics(analysis.diagnostics);
}

}  // namespace pleat::report
