#include "report/info_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "annotate/advice.h"
#include "base/say.h"
#include "report/headline.h"
#include "report/text_report.h"
#include "report/units.h"

namespace pleat::report {
namespace {

std::string known(std::int32_t value) { return value < 0 ? "-" : fmt::format("{}", value); }

std::string seconds(base::Duration duration) {
    const std::int64_t millis = (duration.ns + 500'000) / 1'000'000;
    return fmt::format("{}.{:03} s", millis / 1000, millis % 1000);
}

template <class Number>
std::string counted(Number number, std::string_view what) {
    const bool one = number == 1;
    return fmt::format("{} {}{}", number, what, one ? "" : what.ends_with("s") ? "es" : "s");
}

std::string nameOf(const trace::Rank& rank) {
    return rank.number < 0 ? fmt::format("process {} ({})", rank.pid, base::printable(rank.program))
                           : fmt::format("rank {} (pid {})", rank.number, rank.pid);
}

// "0-4, 6, 8-9"
std::string ranges(const std::vector<std::int32_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ", ";
        text += last == i ? fmt::format("{}", numbers[i])
                          : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return text.empty() ? "none" : text;
}

std::string renderProcesses(const std::vector<analysis::ProcessInfo>& processes) {
    std::string text = fmt::format(
        "\n{:>4} {:>2} {:>2} {:>8} {:<16} {:<8} {:>5} {:>9} {:>7} {:>9} {:>6} {}\n", "rank", "dp",
        "pp", "pid", "program", "end", "lanes", "events", "tasks", "transfers", "iters", "device");
    for (const analysis::ProcessInfo& process : processes) {
        const trace::Rank& rank = process.rank;
        text += fmt::format(
            "{:>4} {:>2} {:>2} {:>8} {:<16.16} {:<8} {:>5} {:>9} {:>7} {:>9} {:>6} {}\n",
            known(rank.number), known(rank.coordinates.dp), known(rank.coordinates.pp), rank.pid,
            base::printable(rank.program), toString(rank.end), process.lanes, process.events,
            process.tasks, process.transfers, process.iterations,
            rank.device.empty() ? "-" : base::printable(rank.device));
    }
    return text;
}

std::string renderKilled(const std::vector<analysis::ProcessInfo>& processes) {
    std::string text;
    for (const analysis::ProcessInfo& process : processes) {
        if (process.rank.end != trace::ProcessEnd::Killed) continue;
        text +=
            process.lastEvent
                ? fmt::format("{} was killed; its last event ends {} before the trace does\n",
                              nameOf(process.rank), seconds(process.endsEarlyBy))
                : fmt::format("{} was killed before it recorded an event\n", nameOf(process.rank));
    }
    return text.empty() ? text : "\n" + text;
}

std::string scheduleLine(const analysis::RunInfo& info) {
    if (info.schedule) return describeSchedule(*info.schedule);
    if (info.tasks == 0)
        return fmt::format("none: {}; {}", annotate::kNoActionNamed, annotate::kHowToNameActions);
    return "not recognised";
}

}  // namespace

std::string renderText(const analysis::RunInfo& info) {
    // A process that worked on several devices stands there once for each.
    std::set<std::int32_t> ranks;
    std::size_t devices = 0, processes = info.processes.size();
    for (const analysis::ProcessInfo& process : info.processes) {
        if (process.rank.number < 0) continue;
        const bool isNew = ranks.insert(process.rank.number).second;
        devices += process.rank.oneOfSeveralDevices ? 1 : 0;
        processes -= process.rank.oneOfSeveralDevices && !isNew ? 1 : 0;
    }
    std::string numbered = counted(ranks.size(), "rank");
    if (devices > 0) numbered += " on " + counted(devices, "device");
    std::string text = renderProblems(headlineOf(info).problems);
    text += fmt::format("{}, {}, {}, {}, {}, {} over {}\n", numbered, counted(processes, "process"),
                        counted(info.lanes, "lane"), counted(info.events, "event"),
                        counted(info.tasks, "task"), counted(info.transfers, "transfer"),
                        seconds(info.length));
    text +=
        wrapped("Iterations: ",
                fmt::format("{} complete ({}); incomplete: {}", info.completeIterations.size(),
                            ranges(info.completeIterations), ranges(info.incompleteIterations)));
    text += wrapped("Schedule:   ", scheduleLine(info));
    text += renderProcesses(info.processes) + renderKilled(info.processes);
    return text + renderDiagnostics(info.diagnostics);
}

}  // namespace pleat::report
