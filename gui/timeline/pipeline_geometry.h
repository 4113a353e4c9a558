// A pipeline scene laid out for a viewport, in whole pixels: boxes for tasks, bands for the causes
// of idle gaps, arrows for messages, and what lies under a point. The picture is tested as text; a
// painter only has to draw what is here. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timeline/pipeline_scene.h"
#include "timeline/viewport.h"

namespace pleat::timeline {

struct PipelineViewport {
    Viewport time;
    std::int32_t height = 0;     // pixels of what shows rows
    std::int32_t top = 0;        // how far rows are scrolled
    std::int32_t rowHeight = 0;  // with the distance to the next
    bool ghosts = false;         // the lower third of a row shows what was meant to run
    bool messages = true;
};

inline constexpr std::int32_t kRowDistance = 4;  // pixels between two rows

struct PixelRect {
    std::int32_t x = 0, y = 0, width = 0, height = 0;
    friend bool operator==(const PixelRect&, const PixelRect&) = default;
};

// Hues repeat where there are more microbatches; the number beside tells them apart.
inline constexpr std::int32_t kMicrobatchHues = 7;

struct PipelineBox {
    PixelRect rect;
    std::int32_t hue = -1;  // -1: of no microbatch
    std::string label;      // what fits: the microbatch's number, or nothing
    std::size_t task = 0;   // position in the scene's tasks, or ghosts
};

struct PipelineBand {
    PixelRect rect;
    std::int32_t cause = 0;
    std::size_t gap = 0;  // position in the scene's gaps
};

struct PipelineArrow {
    std::int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    std::int32_t hue = -1;
    std::size_t message = 0;  // position in the scene's messages
};

struct PipelineFrame {
    std::vector<PipelineBox> boxes, ghosts;
    std::vector<PipelineBand> bands;
    std::vector<PipelineArrow> arrows;
};

// Neighbours share an edge. What is narrower than a pixel has one, unless what lies before it in
// its row has that pixel already: the number of boxes follows pixels. O(log n of each visible row +
// what is visible).
[[nodiscard]] PipelineFrame layOutPipeline(const PipelineScene& scene,
                                           const PipelineViewport& viewport);

// The row at a height; nothing between rows' ends and below the last.
[[nodiscard]] std::optional<std::uint32_t> rowAt(const PipelineScene& scene,
                                                 const PipelineViewport& viewport, std::int32_t y);

struct PipelineHit {
    enum class Kind : std::uint8_t { Task, Ghost, Gap } kind = Kind::Task;
    std::size_t index = 0;  // in the scene's tasks, ghosts, gaps
};
// What is under a point of the frame.
[[nodiscard]] std::optional<PipelineHit> hitAt(const PipelineFrame& frame, std::int32_t x,
                                               std::int32_t y);

// One line per box, band and arrow.
[[nodiscard]] std::string pipelineText(const PipelineFrame& frame, const PipelineScene& scene);

}  // namespace pleat::timeline
