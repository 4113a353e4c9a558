#include "models/timeline_data.h"

#include <algorithm>
#include <map>

#include "timeline/busy_strip.h"

namespace pleat::models {

std::vector<IterationMark> iterationMarks(const graph::RunIndex& run) {
    std::map<std::int32_t, base::Interval> spans;
    for (const graph::IterationWindow& one : run.windows())
        spans.emplace(one.iteration, one.window);
    for (const trace::IterationSpan& one : run.trace().annotations().iterations) {
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
    const std::shared_ptr<const trace::Trace>& trace, const graph::RunIndex& run,
    const std::stop_token& stop) {
    // Not the pool frames are made with: they go on while this works.
    timeline::WorkerPool pool;
    auto data = std::make_shared<const TimelineData>(trace, run, pool, stop);
    return stop.stop_requested() ? nullptr : data;
}

std::vector<std::uint8_t> busyStrip(const TimelineData& data, std::size_t columns,
                                    const std::stop_token& stop) {
    timeline::BusyStrip strip(data.index.span(), columns);
    std::vector<timeline::Summary> summaries(columns);
    const std::size_t ranks = data.trace().ranks().size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (stop.stop_requested()) return {};
        timeline::RowIndex::Bookmark bookmark = 0;
        data.index.summary(trace::RankId::at(rank)).summarise(strip.bounds(), summaries, bookmark);
        for (std::size_t c = 0; c < columns; ++c) {
            if (summaries[c].count > 0) strip.add(c, summaries[c].busy);
        }
    }
    return strip.shares(ranks);
}

}  // namespace pleat::models
