#include "analysis/run_totals.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/exact_mean.h"

namespace pleat::analysis {
namespace {

OverlapFigures meanOf(const OverlapFigures& sums, std::int64_t iterations) {
    const auto means = exactMeans({sums.hidden.ns, sums.moving.ns, sums.waiting.ns}, iterations);
    return {sums.count / iterations, sums.bytes / iterations, {means[0]}, {means[1]}, {means[2]}};
}

template <class Row, class Key>
std::vector<Row> meanRowsOf(const std::map<Key, OverlapFigures>& sums, std::int64_t iterations) {
    std::vector<Row> rows;
    for (const auto& [key, figures] : sums) rows.push_back({key, meanOf(figures, iterations)});
    return rows;
}

template <class Key>
std::map<Key, base::Duration> meanMap(const std::map<Key, base::Duration>& sums,
                                      std::int64_t iterations) {
    std::vector<std::int64_t> values;
    for (const auto& [key, sum] : sums) values.push_back(sum.ns);
    const auto means = exactMeans(values, iterations);
    std::map<Key, base::Duration> result;
    std::size_t next = 0;
    for (const auto& [key, sum] : sums) result[key] = {means[next++]};
    return result;
}

// The longest first.
std::vector<WaitSummary> meanWaits(const trace::Trace& trace, const RankTotals::Waits& waits,
                                   std::int64_t iterations) {
    std::vector<WaitSummary> means;
    for (const auto& [key, sum] : waits) {
        const trace::Rank late = key.first.valid() ? trace.ranks()[key.first] : trace::Rank();
        means.push_back({late.number,
                         late.oneOfSeveralDevices ? late.device : "",
                         key.second,
                         {sum.ns / iterations}});
    }
    std::stable_sort(means.begin(), means.end(), [](const WaitSummary& a, const WaitSummary& b) {
        return a.duration > b.duration;
    });
    return means;
}

}  // namespace

void RankTotals::add(const RankActivity& activity, const Partition& parts,
                     const CauseDurations& bubble, const std::vector<IdleWait>& idle) {
    time += TimeAccount{parts.lengths(), bubble, parts.hidden.total()};
    for (const Wait& wait : waitsOf(activity, parts))
        waits[{wait.lateRank, wait.dimension}] += wait.duration;
    for (const IdleWait& wait : idle) idleWaits[{wait.lateRank, wait.dimension}] += wait.duration;
    for (const TransferRow& row : transferOverlap(activity, parts.compute))
        transfers[row.key] += row.figures;
    for (const GradientSyncRow& row : gradientSyncOverlap(activity, parts.compute))
        gradientSync[row.chunk] += row.figures;
}

RankTotals& RankTotals::operator+=(const RankTotals& other) {
    time += other.time;
    for (const auto& [key, wait] : other.waits) waits[key] += wait;
    for (const auto& [key, wait] : other.idleWaits) idleWaits[key] += wait;
    for (const auto& [key, figures] : other.transfers) transfers[key] += figures;
    for (const auto& [chunk, figures] : other.gradientSync) gradientSync[chunk] += figures;
    return *this;
}

RankSummary RankTotals::mean(const trace::Trace& trace, const trace::Rank& rank,
                             std::int64_t iterations) const {
    RankSummary summary;
    summary.number = rank.number;
    summary.device = rank.device;
    summary.oneOfSeveralDevices = rank.oneOfSeveralDevices;
    summary.coordinates = rank.coordinates;
    summary.time = time.mean(iterations);
    summary.waits = meanWaits(trace, waits, iterations);
    summary.idleWaits = meanWaits(trace, idleWaits, iterations);
    summary.transfers = meanRows(transfers, iterations);
    return summary;
}

void PathTotals::add(const trace::Trace& trace, const graph::TaskGraph& graph,
                     const graph::IterationWindow& window) {
    const PathAttribution path =
        attribute(trace, graph, measuredCriticalPath(graph, window.window));
    const graph::Replay replayed = graph::replay(graph, window);
    ++iterations;
    length += path.length;
    predicted += replayed.predicted;
    measured += replayed.measured;
    error += {std::abs((replayed.predicted - replayed.measured).ns)};
    for (const auto& [kind, duration] : path.byKind) byKind[kind] += duration;
    for (const auto& [stage, duration] : path.byStage) byStage[stage] += duration;
    for (const auto& [rank, duration] : path.byRank) {
        const bool known = rank >= 0;
        byRank[known ? trace.ranks()[trace::RankId(static_cast<std::uint32_t>(rank))].number
                     : -1] += duration;
    }
}

PathSummary PathTotals::meanPath() const {
    return {{length.ns / iterations},
            meanMap(byKind, iterations),
            meanMap(byRank, iterations),
            meanMap(byStage, iterations)};
}

ReplaySummary PathTotals::meanReplay() const {
    return {
        {predicted.ns / iterations},
        {measured.ns / iterations},
        measured.ns > 0 ? static_cast<double>(error.ns) / static_cast<double>(measured.ns) : 0.0,
        {},
        0};
}

std::vector<TransferRow> meanRows(const std::map<TransferKey, OverlapFigures>& sums,
                                  std::int64_t iterations) {
    return meanRowsOf<TransferRow>(sums, iterations);
}

std::vector<GradientSyncRow> meanRows(const std::map<std::int32_t, OverlapFigures>& sums,
                                      std::int64_t iterations) {
    return meanRowsOf<GradientSyncRow>(sums, iterations);
}

}  // namespace pleat::analysis
