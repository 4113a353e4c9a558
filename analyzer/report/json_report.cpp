#include "report/json_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/headline.h"
#include "report/units.h"

namespace pleat::report {
namespace {

using Json = nlohmann::ordered_json;

// Text of a trace may hold any bytes; they are replaced, not refused.
std::string dump(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json orNull(const std::optional<base::Duration>& value) {
    return value ? Json(value->ns) : Json(nullptr);
}

Json toJson(const base::Diagnostics& diagnostics) {
    Json list = Json::array();
    for (const base::Diagnostic& entry : diagnostics.entries()) {
        list.push_back({{"severity", toString(entry.severity)},
                        {"code", entry.code},
                        {"count", entry.count},
                        {"example", entry.example}});
    }
    return list;
}

Json toJson(const std::optional<trace::RecognisedSchedule>& schedule) {
    if (!schedule) return nullptr;
    return {{"name", schedule->name},     {"ranks", schedule->ranks},
            {"chunks", schedule->chunks}, {"microbatches", schedule->microbatches},
            {"group", schedule->group},   {"confidence", schedule->confidence},
            {"also", schedule->also}};
}

Json toJson(const std::optional<std::pair<base::Duration, base::Duration>>& interval) {
    return interval ? Json::array({interval->first.ns, interval->second.ns}) : Json(nullptr);
}

Json toJson(const analysis::IterationStatistics& iterations) {
    Json json{{"count", iterations.indices.size()}, {"indices", iterations.indices}};
    const bool any = !iterations.indices.empty();
    json["median_ns"] = any ? Json(iterations.median.ns) : Json(nullptr);
    json["p90_ns"] = any ? Json(iterations.p90.ns) : Json(nullptr);
    json["mean_ns"] = any ? Json(iterations.mean.ns) : Json(nullptr);
    json["ci95_ns"] = toJson(iterations.ci95);
    return json;
}

void addFigures(Json& json, const analysis::OverlapFigures& figures) {
    json["count"] = figures.count;
    json["bytes"] = figures.bytes;
    json["total_ns"] = figures.total().ns;
    json["hidden_ns"] = figures.hidden.ns;
    json["moving_ns"] = figures.moving.ns;
    json["waiting_ns"] = figures.waiting.ns;
    json["overlap_fraction"] = orNull(figures.overlapFraction());
}

Json toJson(const std::vector<analysis::TransferRow>& rows) {
    Json list = Json::array();
    for (const analysis::TransferRow& row : rows) {
        Json json{{"dimension", toString(row.key.dimension)},
                  {"operation", toString(row.key.operation)}};
        addFigures(json, row.figures);
        list.push_back(std::move(json));
    }
    return list;
}

Json toJson(const std::vector<analysis::GradientSyncRow>& rows) {
    Json list = Json::array();
    for (const analysis::GradientSyncRow& row : rows) {
        Json json{{"chunk", row.chunk}};
        addFigures(json, row.figures);
        list.push_back(std::move(json));
    }
    return list;
}

template <class Value, class Make>
Json byCause(const Value& values, Make make) {
    Json json = Json::object();
    for (const analysis::BubbleCause cause : analysis::kBubbleCauses)
        json[std::string(toString(cause))] = make(values[cause]);
    return json;
}

Json toJson(const analysis::RankSummary& rank) {
    using analysis::TimePart;
    Json json{{"rank", rank.number},
              {"device", rank.device},
              {"dp", rank.coordinates.dp},
              {"pp", rank.coordinates.pp},
              {"tp", rank.coordinates.tp},
              {"total_ns", rank.time.total().ns},
              {"compute_ns", rank.time[TimePart::Compute].ns},
              {"transfer_hidden_ns", rank.time.hidden.ns},
              {"transfer_moving_ns", rank.time[TimePart::Moving].ns},
              {"transfer_waiting_ns", rank.time[TimePart::Waiting].ns},
              {"copy_ns", rank.time[TimePart::Copy].ns},
              {"bubble_ns", rank.time[TimePart::Bubble].ns}};
    json["bubble_by_cause"] =
        byCause(rank.time.causes, [](base::Duration duration) { return duration.ns; });
    const auto waitsOf = [](const std::vector<analysis::WaitSummary>& of) {
        Json waits = Json::array();
        for (const analysis::WaitSummary& wait : of) {
            waits.push_back({{"late_rank", wait.lateRank},
                             {"late_device", wait.lateDevice},
                             {"dimension", toString(wait.dimension)},
                             {"waiting_ns", wait.duration.ns}});
        }
        return waits;
    };
    json["waits"] = waitsOf(rank.waits);
    json["idle_waits"] = waitsOf(rank.idleWaits);
    json["transfers"] = toJson(rank.transfers);
    return json;
}

Json toJson(const analysis::BubbleSummary& bubble) {
    return {{"fraction", orNull(bubble.fraction)},
            {"theoretical_fraction", orNull(bubble.theoreticalFraction)},
            {"replayed_minimum_fraction", orNull(bubble.replayedMinimum)},
            {"by_cause", byCause(bubble.byCause, [](double fraction) { return fraction; })}};
}

// Keys of JSON objects are text; "none" for what has no rank or stage.
Json byNumber(const std::map<std::int32_t, base::Duration>& parts) {
    Json json = Json::object();
    for (const auto& [number, duration] : parts) {
        if (number >= 0) json[fmt::format("{}", number)] = duration.ns;
    }
    const auto none = parts.find(-1);
    if (none != parts.end()) json["none"] = none->second.ns;
    return json;
}

Json toJson(const analysis::PathSummary& path) {
    Json kinds = Json::object();
    for (const auto& [kind, duration] : path.byKind) kinds[kind] = duration.ns;
    return {{"length_ns", path.length.ns},
            {"by_kind", std::move(kinds)},
            {"by_rank", byNumber(path.byRank)},
            {"by_stage", byNumber(path.byStage)}};
}

Json toJson(const analysis::ReplaySummary& replay) {
    return {{"predicted_ns", replay.predicted.ns},
            {"measured_ns", replay.measured.ns},
            {"error_fraction", replay.errorFraction},
            {"without_pauses_ns", replay.withoutPauses.ns},
            {"pause_share", replay.pauseShare}};
}

Json toJson(const analysis::ProcessInfo& process) {
    const trace::Rank& rank = process.rank;
    return {{"rank", rank.number},
            {"dp", rank.coordinates.dp},
            {"pp", rank.coordinates.pp},
            {"tp", rank.coordinates.tp},
            {"host", rank.host},
            {"pid", rank.pid},
            {"program", rank.program},
            {"device", rank.device},
            {"end", toString(rank.end)},
            {"lanes", process.lanes},
            {"events", process.events},
            {"tasks", process.tasks},
            {"transfers", process.transfers},
            {"iterations", process.iterations},
            {"first_event_ns", orNull(process.firstEvent)},
            {"last_event_ns", orNull(process.lastEvent)},
            {"ends_early_by_ns", process.endsEarlyBy.ns}};
}

std::string_view toString(analysis::DeviceWork work) {
    switch (work) {
        case analysis::DeviceWork::Communication:
            return "communication";
        case analysis::DeviceWork::Copy:
            return "copy";
        default:
            return "compute";
    }
}

Json toJson(const std::vector<analysis::DeviceQueue>& queues) {
    Json list = Json::array();
    for (const analysis::DeviceQueue& queue : queues) {
        list.push_back({{"rank", queue.rank},
                        {"device", queue.device},
                        {"deepest", queue.deepest},
                        {"mean_depth", queue.meanDepth},
                        {"empty_fraction", queue.emptyFraction},
                        {"depth_over_time", queue.depthOverTime},
                        {"busy_ns", queue.idle.busy.ns},
                        {"idle_host_late_ns", queue.idle.hostWait.ns},
                        {"idle_between_work_ns", queue.idle.betweenWork.ns},
                        {"idle_other_ns", queue.idle.other.ns}});
    }
    return list;
}

Json toJson(const analysis::DeviceCatalogue& devices) {
    Json kernels = Json::array(), copies = Json::array(), communicators = Json::array();
    for (const analysis::KernelFigures& kernel : devices.kernels) {
        kernels.push_back({{"name", kernel.name},
                           {"kind", toString(kernel.kind)},
                           {"count", kernel.count},
                           {"total_ns", kernel.total.ns},
                           {"longest_ns", kernel.longest.ns}});
    }
    for (const analysis::CopyFigures& copy : devices.copies) {
        copies.push_back({{"name", copy.name},
                          {"count", copy.count},
                          {"bytes", copy.bytes},
                          {"total_ns", copy.total.ns},
                          {"bytes_per_second", orNull(copy.bytesPerSecond)}});
    }
    for (const analysis::CommunicatorFigures& group : devices.communicators) {
        communicators.push_back({{"dimension", trace::toString(group.dimension)},
                                 {"operation", trace::toString(group.operation)},
                                 {"members", group.members},
                                 {"count", group.count},
                                 {"bytes", group.bytes},
                                 {"moving_ns", group.moving.ns},
                                 {"algorithm_bytes_per_second", orNull(group.algorithmBandwidth)},
                                 {"bus_bytes_per_second", orNull(group.busBandwidth)}});
    }
    return {{"kernels", std::move(kernels)},
            {"launches",
             {{"count", devices.launches.count},
              {"short_count", devices.launches.shortOnes},
              {"median_delay_ns", devices.launches.medianDelay.ns},
              {"p90_delay_ns", devices.launches.p90Delay.ns}}},
            {"queues", toJson(devices.queues)},
            {"copies", std::move(copies)},
            {"communicators", std::move(communicators)}};
}

std::string evidenceOf(const analysis::Straggler& straggler) {
    std::string text = fmt::format("{} takes {} ms more than usual in a mean iteration",
                                   straggler.operation, milliseconds(straggler.excess));
    if (straggler.timesIdeal > 0) {
        text += fmt::format("; {:.2f} x the usual time, slowest tenth {:.2f} x, worst {:.2f} x",
                            straggler.timesIdeal, straggler.slowestTenth, straggler.slowest);
    }
    return text;
}

Json toJson(const std::vector<analysis::Straggler>& stragglers) {
    Json list = Json::array();
    for (const analysis::Straggler& straggler : stragglers) {
        list.push_back({{"key", toString(straggler.suspect)},
                        {"rank", straggler.rank < 0 ? Json(nullptr) : Json(straggler.rank)},
                        {"stage", straggler.stage < 0 ? Json(nullptr) : Json(straggler.stage)},
                        {"slowdown", straggler.slowdown},
                        {"gain_ns", straggler.gain.ns},
                        {"evidence", evidenceOf(straggler)}});
    }
    return list;
}

Json toJson(const analysis::StragglerSearch& search) {
    Json compared = Json::object();
    for (const analysis::ComparedKind& kind : search.compared)
        compared[std::string(pluralOf(kind.kind))] = kind.count;
    return {{"looked", !search.compared.empty()},
            {"compared", std::move(compared)},
            {"least_slowdown", 1 + analysis::kLeastSlowdown},
            {"least_pause_slowdown", 1 + analysis::kLeastPauseSlowdown},
            {"least_without_gain", 1 + analysis::kLeastWithoutGain},
            {"missing", search.missing.empty() ? Json(nullptr) : Json(search.missing)}};
}

Json toJson(const analysis::WhatIfOptions& asked) {
    Json scaled = Json::array();
    for (const analysis::ScaledKey& change : asked.scale)
        scaled.push_back({{"key", change.key}, {"factor", change.factor}});
    return {{"ideal", asked.ideal}, {"scale", std::move(scaled)}, {"keep", asked.keep}};
}

Json toJson(const analysis::RunSummary& run) {
    return {{"iterations", toJson(run.iterations)},
            {"schedule", toJson(run.schedule)},
            {"ranks", run.ranks},
            {"diagnostics", toJson(run.diagnostics)}};
}

Json toJson(const analysis::MeanPart& part) {
    return {{"base_ns", part.base.ns},
            {"new_ns", part.other.ns},
            {"difference_ns", part.difference().ns}};
}

// Keys of times end in _ns, and they are integers.
Json toJson(const analysis::ComparedSeries& row) {
    const bool isTime = row.unit == analysis::Unit::Nanoseconds;
    const std::string suffix = isTime ? "_ns" : "";
    const auto number = [&](double value) {
        return isTime ? Json(std::llround(value)) : Json(value);
    };
    const auto figure = [&](const std::optional<double>& value) {
        return value ? number(*value) : Json(nullptr);
    };
    Json json{{"level", toString(row.key.level)}, {"subject", row.key.subject},
              {"quantity", row.key.quantity},     {"verdict", toString(row.verdict)},
              {"base_count", row.baseCount},      {"new_count", row.otherCount}};
    json["base" + suffix] = figure(row.base);
    json["new" + suffix] = figure(row.other);
    json["difference" + suffix] = figure(row.difference);
    json["ci95" + suffix] =
        row.ci95 ? Json::array({number(row.ci95->first), number(row.ci95->second)}) : Json(nullptr);
    json["ratio"] = orNull(row.ratio);
    return json;
}

}  // namespace

std::string renderJson(const analysis::RunAnalysis& analysis) {
    Json json{{"schema", "pleat-report/1"}};
    json["iterations"] = toJson(analysis.iterations);
    json["schedule"] = toJson(analysis.schedule);
    json["ranks"] = Json::array();
    for (const analysis::RankSummary& rank : analysis.ranks) json["ranks"].push_back(toJson(rank));
    json["transfers"] = toJson(analysis.transfers);
    json["gradient_sync"] = toJson(analysis.gradientSync);
    json["bubble"] = toJson(analysis.bubble);
    json["critical_path"] = analysis.criticalPath ? toJson(*analysis.criticalPath) : Json(nullptr);
    json["replay"] = analysis.replay ? toJson(*analysis.replay) : Json(nullptr);
    json["stragglers"] = toJson(analysis.stragglers);
    json["straggler_search"] = toJson(analysis.stragglerSearch);
    json["devices"] = analysis.devices ? toJson(*analysis.devices) : Json(nullptr);
    json["diagnostics"] = toJson(analysis.diagnostics);
    json["headline"] = headlineOf(analysis).sentence();
    return dump(json);
}

std::string renderJson(const analysis::PathAnalysis& analysis) {
    Json json{{"schema", "pleat-critical-path/1"}, {"iteration", analysis.iteration}};
    json["critical_path"] = toJson(analysis.summary);
    json["pieces"] = Json::array();
    for (const analysis::PathRun& run : analysis.runs) {
        json["pieces"].push_back({{"kind", run.kind},
                                  {"rank", run.rank},
                                  {"stage", run.stage},
                                  {"count", run.pieces},
                                  {"offset_ns", run.offset.ns},
                                  {"length_ns", run.length.ns}});
    }
    json["tasks"] = Json::array();
    for (const analysis::TaskSlack& task : analysis.tasks) {
        json["tasks"].push_back({{"name", task.name},
                                 {"rank", task.rank},
                                 {"duration_ns", task.duration.ns},
                                 {"slack_ns", task.slack.ns}});
    }
    json["headline"] = headlineOf(analysis).sentence();
    json["diagnostics"] = toJson(analysis.diagnostics);
    return dump(json);
}

std::string renderJson(const analysis::RankPath& path) {
    Json json{{"schema", "pleat-rank-path/1"},
              {"iteration", path.iteration},
              {"rank", path.rank},
              {"length_ns", path.length.ns}};
    json["by_kind"] = Json::object();
    for (const auto& [kind, duration] : path.byKind) json["by_kind"][kind] = duration.ns;
    json["pieces"] = Json::array();
    for (const analysis::RankPathPiece& piece : path.pieces) {
        const Json lane = piece.laneKind
                              ? Json{{"kind", toString(*piece.laneKind)}, {"number", piece.lane}}
                              : Json(nullptr);
        json["pieces"].push_back({{"kind", piece.kind},
                                  {"name", piece.name},
                                  {"lane", lane},
                                  {"offset_ns", piece.offset.ns},
                                  {"length_ns", piece.length.ns}});
    }
    json["work"] = Json::array();
    for (const analysis::WorkSlack& work : path.work) {
        json["work"].push_back({{"name", work.name},
                                {"stream", work.stream},
                                {"offset_ns", work.offset.ns},
                                {"duration_ns", work.duration.ns},
                                {"slack_ns", work.slack.ns},
                                {"on_path", work.onPath}});
    }
    json["diagnostics"] = toJson(path.diagnostics);
    json["headline"] = headlineOf(path).sentence();
    return dump(json);
}

std::string renderJson(const analysis::RunInfo& info) {
    Json json{{"schema", "pleat-info/1"}, {"length_ns", info.length.ns}};
    json["lanes"] = info.lanes;
    json["events"] = info.events;
    json["tasks"] = info.tasks;
    json["transfers"] = info.transfers;
    json["iterations"] = {{"complete", info.completeIterations},
                          {"incomplete", info.incompleteIterations}};
    json["schedule"] = toJson(info.schedule);
    json["processes"] = Json::array();
    for (const analysis::ProcessInfo& process : info.processes)
        json["processes"].push_back(toJson(process));
    json["diagnostics"] = toJson(info.diagnostics);
    json["headline"] = headlineOf(info).sentence();
    return dump(json);
}

std::string renderJson(const analysis::WhatIf& answer) {
    Json json{{"schema", "pleat-whatif/1"}};
    json["measured_ns"] = answer.measured.ns;
    json["replay_ns"] = answer.replay.ns;
    json["replay_error_fraction"] = answer.replayError;
    json["replay_error_large"] = answer.replayError > analysis::kLargeReplayError;
    json["replay_without_pauses_ns"] = answer.withoutPauses.ns;
    json["pause_share"] = answer.pauseShare;
    json["pause_share_large"] = answer.pauseShare > analysis::kLargePauseShare;
    json["changed"] = toJson(answer.asked);
    json["predicted_ns"] = answer.predicted.ns;
    json["gain_fraction"] = answer.gain;
    json["ci95_ns"] = toJson(answer.ci95);
    json["slowdown"] = answer.slowdown > 0 ? Json(answer.slowdown) : Json();
    json["of_timers"] = answer.ofTimers;
    json["iterations"] = Json::array();
    for (const analysis::WhatIfIteration& iteration : answer.iterations) {
        json["iterations"].push_back({{"iteration", iteration.iteration},
                                      {"measured_ns", iteration.measured.ns},
                                      {"replay_ns", iteration.replay.ns},
                                      {"predicted_ns", iteration.predicted.ns}});
    }
    json["diagnostics"] = toJson(answer.diagnostics);
    json["headline"] = headlineOf(answer).sentence();
    return dump(json);
}

std::string renderJson(const analysis::Comparison& comparison) {
    using analysis::Verdict;
    Json json{{"schema", "pleat-diff/1"}, {"verdict", toString(comparison.iteration.verdict)}};
    json["base"] = toJson(comparison.base);
    json["new"] = toJson(comparison.other);
    json["mean"] = toJson(comparison.mean);
    json["mean"]["parts"] = Json::array();
    for (const analysis::MeanPart& part : comparison.parts) {
        Json entry{{"part", part.ofBubble ? "bubble." + part.name : part.name}};
        entry.update(toJson(part));
        json["mean"]["parts"].push_back(std::move(entry));
    }
    json["counts"] = {{"compared", comparison.inBoth()}, {"by_chance", comparison.byChance()}};
    for (std::size_t i = 0; i < analysis::kVerdictCount; ++i)
        json["counts"][std::string(toString(static_cast<Verdict>(i)))] = comparison.count[i];
    json["rows"] = Json::array();
    for (const analysis::ComparedSeries& row : comparison.rows) json["rows"].push_back(toJson(row));
    json["diagnostics"] = toJson(comparison.diagnostics);
    json["headline"] = headlineOf(comparison).sentence();
    return dump(json);
}

std::string renderJson(const graph::Simulation& simulation) {
    Json json{{"schema", "pleat-simulation/1"},
              {"makespan_ns", simulation.makespan.ns},
              {"bubble_fraction_ideal", simulation.bubbleFractionIdeal},
              {"bubble_fraction_total", simulation.bubbleFractionTotal},
              {"ranks", Json::array()}};
    for (const graph::SimulatedRank& rank : simulation.ranks) {
        Json windows = Json::array();
        for (const base::Duration window : rank.syncWindow) windows.push_back(window.ns);
        json["ranks"].push_back({{"busy_ns", rank.busy.ns},
                                 {"peak_activations", rank.peakActivations},
                                 {"sync_window_ns", std::move(windows)}});
    }
    return dump(json);
}

}  // namespace pleat::report
