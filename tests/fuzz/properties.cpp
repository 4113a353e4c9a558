#include "fuzz/properties.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "analysis/compare.h"
#include "analysis/path_analysis.h"
#include "analysis/run_analysis.h"
#include "analysis/run_info.h"
#include "analysis/run_series.h"
#include "annotate/annotate.h"
#include "report/chrome_trace.h"
#include "report/diff_report.h"
#include "report/event_csv.h"
#include "report/info_report.h"
#include "report/json_report.h"
#include "report/path_report.h"
#include "report/text_report.h"
#include "store/reader.h"
#include "store/writer.h"
#include "support/temporary_folder.h"

namespace pleat::fuzz {
namespace {

using base::Duration;
using trace::EventId;

void checkJson(const std::string& text, const char* of) {
    require(!nlohmann::json::parse(text, nullptr, false).is_discarded(),
            std::string(of) + " is no JSON");
}

template <class Key>
Duration sumOf(const std::map<Key, Duration>& parts) {
    Duration sum;
    for (const auto& [key, duration] : parts) sum += duration;
    return sum;
}

void checkEvents(const trace::Trace& trace) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::LaneId lane = trace.lanes().idAt(i);
        require(trace.lanes()[lane].rank.index() < trace.ranks().size(), "a lane has a rank");
        const auto [first, last] = trace.eventsOf(lane);
        require(first.index() == next && last.index() >= first.index(), "lanes are contiguous");
        next = last.index();
        for (std::size_t at = first.index(); at < last.index(); ++at) {
            const trace::Event event = trace.event(EventId::at(at));
            require(event.lane == lane, "an event lies in its lane");
            require(event.span.end >= event.span.begin, "an event does not end before it begins");
            require(trace.name(EventId::at(at)).size() < (1U << 30), "a name is a text");
            require(trace.arguments(EventId::at(at)).size() < (1U << 30), "arguments are a text");
            if (at == first.index()) continue;
            const trace::Event before = trace.event(EventId::at(at - 1));
            require(std::pair(before.span.begin.ns, -before.span.length().ns) <=
                        std::pair(event.span.begin.ns, -event.span.length().ns),
                    "events of a lane are sorted, the longer first");
        }
    }
    require(next == trace.eventCount(), "every event is in a lane");
    for (const trace::Dependency& dependency : trace.dependencies()) {
        require(dependency.from.index() < trace.eventCount() &&
                    dependency.to.index() < trace.eventCount(),
                "a dependency joins two events");
    }
}

// Of tasks, transfers, phases and iterations alike.
template <class Items>
void checkItems(const trace::Trace& trace, const Items& items) {
    for (const auto& item : items) {
        require(item.rank.index() < trace.ranks().size(), "an annotation has a rank");
        require(item.event.index() < trace.eventCount(), "an annotation has an event");
        require(item.span.end >= item.span.begin, "an annotation's span does not end before it");
    }
    require(std::is_sorted(items.begin(), items.end(),
                           [](const auto& a, const auto& b) {
                               return std::tie(a.rank, a.span.begin) <
                                      std::tie(b.rank, b.span.begin);
                           }),
            "annotations are sorted by rank and begin");
}

void checkAnnotations(const trace::Trace& trace) {
    const trace::Annotations& found = trace.annotations();
    checkItems(trace, found.tasks);
    checkItems(trace, found.transfers);
    checkItems(trace, found.phases);
    checkItems(trace, found.iterations);
    for (const trace::Transfer& transfer : found.transfers) {
        require(!transfer.group.valid() || transfer.group.index() < found.groups.size(),
                "a transfer's group is there");
        require(!transfer.match.valid() || transfer.match.index() < found.matches.size(),
                "a transfer's match is there");
    }
    for (std::size_t i = 0; i < found.matches.size(); ++i) {
        const trace::Match& match = found.matches[found.matches.idAt(i)];
        require(!match.members.empty(), "a match has members");
        require(match.lastRank.index() < trace.ranks().size(), "a match knows who came last");
        for (const trace::TransferId member : match.members) {
            require(member.index() < found.transfers.size(), "a match's member is there");
            require(found.transfers[member].match == found.matches.idAt(i),
                    "a match's member knows its match");
        }
    }
    for (const trace::ProcessGroup& group : found.groups) {
        for (const trace::RankId member : group.members)
            require(member.index() < trace.ranks().size(), "a group's member is there");
    }
}

void checkRank(const analysis::RankSummary& rank) {
    const Duration none;
    require(rank.time[analysis::TimePart::Bubble] == rank.time.causes.total(),
            "causes sum to the bubble");
    require(rank.time.hidden >= none && rank.time.hidden <= rank.time[analysis::TimePart::Compute],
            "hidden is part of compute");
    for (const Duration part : rank.time.parts.of)
        require(part >= none, "no part of a rank's time is negative");
    for (const Duration cause : rank.time.causes.of)
        require(cause >= none, "no cause of a bubble is negative");
}

void checkAnalysis(const analysis::RunAnalysis& run) {
    for (const analysis::RankSummary& rank : run.ranks) {
        checkRank(rank);
        require(rank.time.total() == run.iterations.mean, "a rank's parts sum to the iteration");
    }
    if (run.bubble.fraction) {
        const auto& causes = run.bubble.byCause;
        const double sum = causes.total();
        require(std::abs(sum - *run.bubble.fraction) < 1e-6, "shares of causes sum to the bubble");
        require(sum >= 0 && sum <= 1 + 1e-9, "the bubble is a share");
    }
    if (!run.criticalPath) return;
    const analysis::PathSummary& path = *run.criticalPath;
    require(sumOf(path.byKind) == path.length, "kinds sum to the critical path");
    require(sumOf(path.byRank) == path.length, "ranks sum to the critical path");
    require(sumOf(path.byStage) == path.length, "stages sum to the critical path");
}

void checkPath(const analysis::PathAnalysis& path) {
    Duration sum;
    for (const analysis::PathRun& run : path.runs) {
        require(run.length >= Duration{}, "no piece of the critical path is negative");
        require(run.offset == sum, "pieces of the critical path are contiguous");
        sum += run.length;
    }
    require(sum == path.summary.length, "pieces sum to the critical path");
    for (const analysis::TaskSlack& task : path.tasks)
        require(task.slack >= Duration{}, "no slack is negative");
}

void checkComparison(const analysis::RunSeries& run) {
    const analysis::Comparison same = analysis::compareRuns(run, run);
    require(same.of(analysis::Verdict::Same) == same.rows.size(), "a run is as fast as itself");
    require(same.mean.base == run.iterations.mean, "the mean iteration is that of the report");
    Duration sum;
    for (const analysis::MeanPart& part : same.parts) sum += part.base;
    require(sum == same.mean.base, "parts sum to the mean iteration");
    (void)report::renderText(same);
    (void)report::renderMarkdown(same);
    checkJson(report::renderJson(same), "the comparison");
}

void exportTrace(const trace::Trace& trace) {
    std::string text;
    const report::TextSink sink = [&](std::string_view piece) {
        text += piece;
        return base::Result<void>();
    };
    require(report::writeChromeTrace(trace, {"1", 1'000}, sink).ok(), "a trace can be exported");
    checkJson(text, "the exported trace");
    require(report::writeEventCsv(trace, sink).ok(), "events can be exported");
}

void storeAndLoad(const trace::Trace& trace) {
    const std::filesystem::path file = scratchFile("stored.pleat");
    removeDatabase(file);
    const auto written = store::writeTrace(trace, file);
    require(written.ok(), "a trace can be stored: " + (written ? "" : written.error().message));
    const auto loaded = store::load(file);
    require(loaded.ok(), "a stored trace loads: " + (loaded ? "" : loaded.error().message));
    checkTrace(loaded->trace);
    require(loaded->trace.eventCount() == trace.eventCount(), "a stored trace keeps its events");
    const trace::Annotations &kept = loaded->trace.annotations(), &had = trace.annotations();
    require(kept.tasks.size() == had.tasks.size(), "a stored trace keeps its tasks");
    require(kept.transfers.size() == had.transfers.size(), "a stored trace keeps its transfers");
    require(kept.matches.size() == had.matches.size(), "a stored trace keeps its matches");
}

}  // namespace

void checkError(const base::Error& error) {
    require(!error.message.empty(), "an error says something");
    require(error.message.find('\n') == std::string::npos, "an error is one line");
}

void checkTrace(const trace::Trace& trace) {
    checkEvents(trace);
    checkAnnotations(trace);
}

void useTrace(const trace::Trace& annotated, bool stored) {
    checkTrace(annotated);
    const analysis::RunInfo info = analysis::describeRun(annotated);
    (void)report::renderText(info);
    checkJson(report::renderJson(info), "the description");
    const auto run = analysis::analyseRun(annotated, {});
    if (run) {
        checkAnalysis(*run);
        (void)report::renderText(*run);
        checkJson(report::renderJson(*run), "the report");
    } else {
        checkError(run.error());
    }
    const auto path = analysis::analysePath(annotated, {});
    if (path) {
        checkPath(*path);
        (void)report::renderText(*path);
        checkJson(report::renderJson(*path), "the critical path");
    } else {
        checkError(path.error());
    }
    if (const auto series = analysis::seriesOf(annotated, {})) {
        checkComparison(*series);
    } else {
        checkError(series.error());
    }
    exportTrace(annotated);
    if (stored) storeAndLoad(annotated);
}

void annotateAndUse(const trace::Trace& events, bool stored) {
    checkTrace(events);
    const auto annotated = annotate::annotate(events);
    if (annotated) return useTrace(*annotated, stored);
    checkError(annotated.error());
}

std::filesystem::path scratchFile(const std::string& name) {
    static const test::TemporaryFolder folder;
    return folder.file(name);
}

void removeDatabase(const std::filesystem::path& file) {
    for (const char* ending : {"", "-wal", "-shm", "-journal"})
        std::filesystem::remove(file.string() + ending);
}

void writeScratch(const std::filesystem::path& file, Bytes bytes) {
    removeDatabase(file);
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace pleat::fuzz
