#include "timeline/frame.h"

#include <fmt/format.h>

#include "base/say.h"

namespace pleat::timeline {
namespace {

std::string rowTitle(const PlacedRow& place, const trace::Trace& trace) {
    const std::string rank = trace::rankTitle(trace.ranks()[place.rank]);
    if (!place.lane.valid()) return place.row < 0 ? rank : rank + ", summary";
    return fmt::format("{} / {} row {}", rank, trace::laneTitle(trace.lanes()[place.lane]),
                       place.row);
}

void appendCells(const std::vector<Cell>& cells, std::string& text) {
    for (std::size_t first = 0; first < cells.size();) {
        std::size_t last = first + 1;
        while (last < cells.size() && cells[last] == cells[first]) ++last;
        if (cells[first].occupancy > 0) {
            text += fmt::format("  cells {}..{} occupancy {} colour {}\n", first, last,
                                cells[first].occupancy, cells[first].colour);
        }
        first = last;
    }
}

}  // namespace

std::string frameText(const Frame& frame, const trace::Trace& trace) {
    constexpr std::size_t kLongestName = 40;
    std::string text = fmt::format("{} ns, {} ns/px, {} x {} px\n", frame.viewport.begin.ns,
                                   frame.viewport.nsPerPixel, frame.viewport.width, frame.height);
    for (const FrameRow& row : frame.rows) {
        text += base::printable(fmt::format("y {} h {} {}", row.place.y, row.place.height,
                                            rowTitle(row.place, trace))) +
                "\n";
        for (const Box& box : row.boxes) {
            text += fmt::format("  box {}..{} colour {} {}\n", box.x0, box.x1, box.colour,
                                base::printable(trace.name(box.event), kLongestName));
        }
        for (const Label& label : row.labels) {
            text += fmt::format("  label {}..{} {}\n", label.x0, label.x1,
                                base::printable(label.text, kLongestName));
        }
        appendCells(row.cells, text);
    }
    return text;
}

}  // namespace pleat::timeline
