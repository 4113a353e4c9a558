#include "timeline/pipeline_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pleat::timeline {
namespace {

constexpr std::int32_t kLabelWidth = 8;  // of a digit, about

// Where a row lies, and which part of it tasks have; ghosts have what is below.
struct RowBand {
    std::int32_t y = 0, taskHeight = 0, ghostHeight = 0;
};

RowBand bandOf(const PipelineViewport& viewport, std::uint32_t row) {
    const std::int32_t height = std::max(viewport.rowHeight - kRowDistance, 1);
    const std::int32_t ghost = viewport.ghosts ? height / 3 : 0;
    return {static_cast<std::int32_t>(row) * viewport.rowHeight - viewport.top, height - ghost,
            ghost};
}

struct VisibleRows {
    std::uint32_t first = 0, last = 0;  // [first, last)
};

VisibleRows visibleRows(const PipelineScene& scene, const PipelineViewport& viewport) {
    const std::int32_t height = std::max(viewport.rowHeight, 1);
    const auto rows = static_cast<std::int32_t>(scene.rows.size());
    const std::int32_t first = std::clamp(viewport.top / height, 0, rows);
    const std::int32_t last =
        std::clamp((viewport.top + viewport.height + height - 1) / height, first, rows);
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

std::string labelOf(const PipelineTask& task, std::int32_t width) {
    std::string label = task.work == PipelineWork::Optimizer     ? "opt"
                        : task.work == PipelineWork::DataLoading ? "data"
                        : task.microbatch >= 0 ? fmt::format("{}", task.microbatch)
                                               : std::string();
    const bool fits = static_cast<std::int32_t>(label.size()) * kLabelWidth <= width;
    return fits ? label : std::string();
}

std::int32_t hueOf(std::int32_t microbatch) {
    return microbatch < 0 ? -1 : microbatch % kMicrobatchHues;
}

class Layout {
  public:
    Layout(const PipelineScene& scene, const PipelineViewport& viewport)
        : m_scene(scene), m_viewport(viewport), m_visible(visible(viewport.time)) {}

    PipelineFrame make() && {
        const VisibleRows rows = visibleRows(m_scene, m_viewport);
        for (std::uint32_t row = rows.first; row < rows.last; ++row) addRow(row);
        if (m_viewport.messages) addArrows(rows);
        return std::move(m_frame);
    }

  private:
    void addRow(std::uint32_t row) {
        const RowBand band = bandOf(m_viewport, row);
        forEachVisible(m_scene.gaps, row, [&](std::size_t at, std::int32_t x, std::int32_t width) {
            addBands(at, {x, band.y, width, band.taskHeight});
        });
        forEachVisible(m_scene.tasks, row, [&](std::size_t at, std::int32_t x, std::int32_t width) {
            const PipelineTask& task = m_scene.tasks[at];
            m_frame.boxes.push_back({{x, band.y, width, band.taskHeight},
                                     hueOf(task.microbatch),
                                     labelOf(task, width),
                                     at});
        });
        if (band.ghostHeight == 0) return;
        forEachVisible(
            m_scene.ghosts, row, [&](std::size_t at, std::int32_t x, std::int32_t width) {
                m_frame.ghosts.push_back({{x, band.y + band.taskHeight, width, band.ghostHeight},
                                          hueOf(m_scene.ghosts[at].microbatch),
                                          {},
                                          at});
            });
    }

    // Those of a row that meet the viewport, each with its pixels, none twice on the same.
    template <class Item, class Use>
    void forEachVisible(const std::vector<Item>& items, std::uint32_t row, Use use) const {
        // Items of a row do not cross, so their ends are in order too.
        const auto first = std::partition_point(items.begin(), items.end(), [&](const Item& item) {
            return item.row < row || (item.row == row && item.span.end <= m_visible.begin);
        });
        std::int32_t taken = -1;  // the last pixel that has something
        for (auto at = first; at != items.end() && at->row == row; ++at) {
            if (at->span.begin >= m_visible.end) break;
            const std::int32_t x0 =
                std::min(edgeAt(m_viewport.time, at->span.begin), m_viewport.time.width - 1);
            const std::int32_t x1 = std::max(edgeAt(m_viewport.time, at->span.end), x0 + 1);
            if (x1 - 1 <= taken) continue;
            use(static_cast<std::size_t>(at - items.begin()), x0, x1 - x0);
            taken = x1 - 1;
        }
    }

    // A gap's causes as bands one above the other, as high as their shares: where in the gap each
    // of them was is not known.
    void addBands(std::size_t at, PixelRect rect) {
        const std::vector<double>& shares = m_scene.gaps[at].shares;
        double sum = 0;
        std::int32_t filled = 0;
        for (std::size_t cause = 0; cause < shares.size(); ++cause) {
            sum += shares[cause];
            const auto until = static_cast<std::int32_t>(std::lround(sum * rect.height));
            if (until <= filled) continue;
            m_frame.bands.push_back({{rect.x, rect.y + filled, rect.width, until - filled},
                                     static_cast<std::int32_t>(cause),
                                     at});
            filled = until;
        }
    }

    // Lines may end outside of the picture, but not far.
    [[nodiscard]] std::int32_t arrowEnd(base::TraceTime time) const {
        const double most = 4.0 * m_viewport.time.width;
        return static_cast<std::int32_t>(std::clamp(pixelAt(m_viewport.time, time), -most, most));
    }

    void addArrows(VisibleRows rows) {
        const auto middle = [&](std::uint32_t row) {
            const RowBand band = bandOf(m_viewport, row);
            return band.y + band.taskHeight / 2;
        };
        for (std::size_t i = 0; i < m_scene.messages.size(); ++i) {
            const PipelineMessage& message = m_scene.messages[i];
            if (message.span.begin >= m_visible.end) break;
            const auto [low, high] = std::minmax(message.fromRow, message.toRow);
            if (high < rows.first || low >= rows.last || message.span.end <= m_visible.begin)
                continue;
            m_frame.arrows.push_back({arrowEnd(message.span.begin), middle(message.fromRow),
                                      arrowEnd(message.span.end), middle(message.toRow),
                                      hueOf(message.microbatch), i});
        }
    }

    const PipelineScene& m_scene;
    const PipelineViewport& m_viewport;
    const base::Interval m_visible;
    PipelineFrame m_frame;
};

bool covers(const PixelRect& rect, std::int32_t x, std::int32_t y) {
    return x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
}

std::string rectText(const PixelRect& rect) {
    return fmt::format("x {}+{} y {}+{}", rect.x, rect.width, rect.y, rect.height);
}

std::string taskText(const PipelineTask& task) {
    if (task.work == PipelineWork::Optimizer) return "optimizer";
    if (task.work == PipelineWork::DataLoading) return "data";
    return schedule::toString(schedule::Action{task.stage, task.kind, task.microbatch, {}});
}

}  // namespace

std::optional<std::uint32_t> rowAt(const PipelineScene& scene, const PipelineViewport& viewport,
                                   std::int32_t y) {
    if (y + viewport.top < 0 || viewport.rowHeight <= 0) return std::nullopt;
    const auto row = static_cast<std::uint32_t>((y + viewport.top) / viewport.rowHeight);
    if (row >= scene.rows.size()) return std::nullopt;
    return row;
}

PipelineFrame layOutPipeline(const PipelineScene& scene, const PipelineViewport& viewport) {
    if (viewport.height <= 0) return {};
    return Layout(scene, viewport).make();
}

std::optional<PipelineHit> hitAt(const PipelineFrame& frame, std::int32_t x, std::int32_t y) {
    using Kind = PipelineHit::Kind;
    for (const PipelineBox& box : frame.boxes) {
        if (covers(box.rect, x, y)) return PipelineHit{Kind::Task, box.task};
    }
    for (const PipelineBox& box : frame.ghosts) {
        if (covers(box.rect, x, y)) return PipelineHit{Kind::Ghost, box.task};
    }
    for (const PipelineBand& band : frame.bands) {
        if (covers(band.rect, x, y)) return PipelineHit{Kind::Gap, band.gap};
    }
    return std::nullopt;
}

std::string pipelineText(const PipelineFrame& frame, const PipelineScene& scene) {
    std::string text;
    for (const PipelineBox& box : frame.boxes) {
        const PipelineTask& task = scene.tasks[box.task];
        text += fmt::format("task {} {} hue {}{}{}\n", taskText(task), rectText(box.rect), box.hue,
                            box.label.empty() ? "" : " \"" + box.label + "\"",
                            task.critical ? " critical" : "");
    }
    for (const PipelineBox& box : frame.ghosts)
        text += fmt::format("ghost {} {}\n", taskText(scene.ghosts[box.task]), rectText(box.rect));
    for (const PipelineBand& band : frame.bands)
        text += fmt::format("idle cause {} {}\n", band.cause, rectText(band.rect));
    for (const PipelineArrow& arrow : frame.arrows) {
        text += fmt::format("message {} {},{} to {},{}\n", scene.messages[arrow.message].microbatch,
                            arrow.x0, arrow.y0, arrow.x1, arrow.y1);
    }
    return text;
}

}  // namespace pleat::timeline
