#include "models/timeline_data.h"

#include <algorithm>
#include <map>

#include "graph/measured_graph.h"
#include "timeline/viewport.h"

namespace pleat::models {

std::vector<IterationMark> iterationMarks(const trace::Trace& trace) {
    std::map<std::int32_t, base::Interval> spans;
    for (const graph::IterationWindow& one : graph::iterationWindows(trace))
        spans.emplace(one.iteration, one.window);
    for (const trace::IterationSpan& one : trace.annotations().iterations) {
        const auto at = spans.find(one.iteration);
        if (at == spans.end()) continue;
        at->second.begin = std::min(at->second.begin, one.span.begin);
        at->second.end = std::max(at->second.end, one.span.end);
    }
    std::vector<IterationMark> marks;
    for (const auto& [iteration, span] : spans) marks.push_back({iteration, span});
    std::stable_sort(marks.begin(), marks.end(),
                     [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    return marks;
}

std::shared_ptr<const TimelineData> makeTimelineData(
    const std::shared_ptr<const trace::Trace>& trace, const std::stop_token& stop) {
    // Not the pool frames are made with: they go on while this works.
    timeline::WorkerPool pool;
    auto data = std::make_shared<const TimelineData>(trace, pool, stop);
    return stop.stop_requested() ? nullptr : data;
}

std::vector<std::uint8_t> busyStrip(const TimelineData& data, std::size_t columns,
                                    const std::stop_token& stop) {
    const timeline::Viewport whole =
        timeline::fitted(data.index.span(), static_cast<std::int32_t>(columns));
    std::vector<base::TraceTime> bounds;
    for (std::size_t c = 0; c <= columns; ++c)
        bounds.push_back(timeline::timeAt(whole, static_cast<double>(c)));
    std::vector<double> busy(columns, 0);
    std::vector<bool> any(columns, false);
    std::vector<timeline::Summary> summaries(columns);
    const std::size_t ranks = data.trace().ranks().size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (stop.stop_requested()) return {};
        timeline::RowIndex::Bookmark bookmark = 0;
        data.index.summary(trace::RankId::at(rank)).summarise(bounds, summaries, bookmark);
        for (std::size_t c = 0; c < columns; ++c) {
            any[c] = any[c] || summaries[c].count > 0;
            busy[c] += static_cast<double>(summaries[c].busy.ns);
        }
    }
    std::vector<std::uint8_t> strip(columns, 0);
    for (std::size_t c = 0; c < columns; ++c) {
        const auto length = static_cast<double>((bounds[c + 1] - bounds[c]).ns);
        const double share = length > 0 ? busy[c] / length / static_cast<double>(ranks) : 0;
        if (any[c]) strip[c] = static_cast<std::uint8_t>(std::clamp(share * 255, 1.0, 255.0));
    }
    return strip;
}

}  // namespace pleat::models
