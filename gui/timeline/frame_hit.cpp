#include "timeline/frame_hit.h"

#include <algorithm>

#include "timeline/frame_builder.h"

namespace pleat::timeline {
namespace {

trace::EventId eventAt(const Frame& frame, const FrameRow& row, const RowIndex& index,
                       std::int32_t x) {
    if (x < 0 || x >= frame.viewport.width) return {};
    const auto box = std::partition_point(row.boxes.begin(), row.boxes.end(),
                                          [&](const Box& one) { return one.x1 <= x; });
    if (box != row.boxes.end() && box->x0 <= x) return box->event;
    if (row.cells[static_cast<std::size_t>(x)].occupancy == 0) return {};
    return index.summarise({timeAt(frame.viewport, x), timeAt(frame.viewport, x + 1)}).longest;
}

void fillIdle(FrameHit& hit, const RowIndex& row, const trace::Trace& trace) {
    hit.before = row.frontierAt(hit.time);
    const std::size_t next = row.positionAt(hit.time);
    if (next < row.size()) hit.after = row.event(next);
    hit.idle = {hit.before.valid() ? trace.event(hit.before).span.end : hit.time,
                hit.after.valid() ? trace.event(hit.after).span.begin : hit.time};
}

}  // namespace

std::optional<FrameHit> hitAt(const Frame& frame, const LodIndex& index, std::int32_t x,
                              std::int32_t y, std::int32_t reach) {
    if (x < 0 || x >= frame.viewport.width) return std::nullopt;
    const auto row = std::find_if(frame.rows.begin(), frame.rows.end(), [&](const FrameRow& one) {
        return one.place.y <= y && y < one.place.y + one.place.height;
    });
    if (row == frame.rows.end()) return std::nullopt;
    FrameHit hit{row->place, timeAt(frame.viewport, x), {}, {}, {}, {}};
    const RowIndex* events = rowAt(index, row->place);
    if (events == nullptr) return hit;
    for (std::int32_t away = 0; away <= reach && !hit.event.valid(); ++away) {
        hit.event = eventAt(frame, *row, *events, x - away);
        if (!hit.event.valid()) hit.event = eventAt(frame, *row, *events, x + away);
    }
    if (!hit.event.valid()) fillIdle(hit, *events, index.trace());
    return hit;
}

}  // namespace pleat::timeline
