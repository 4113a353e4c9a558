// From one thing of a pipeline scene to another: with the arrow keys from task to task, and to the
// same thing in a picture with other rows. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "timeline/pipeline_geometry.h"
#include "timeline/pipeline_scene.h"

namespace pleat::timeline {

enum class PipelineStep : std::uint8_t { Earlier, Later, Above, Below };

// Along the row to the next task, or to the task of the row above or below that begins nearest. The
// same task where there is none; the first of all where no task is selected. The scene has tasks.
[[nodiscard]] std::size_t steppedFrom(const PipelineScene& scene,
                                      const std::optional<PipelineHit>& selection,
                                      PipelineStep step);

// The same task or piece of a gap in another scene of the same iteration; nothing for what was
// meant to run.
[[nodiscard]] std::optional<PipelineHit> sameIn(const PipelineScene& other,
                                                const PipelineScene& scene,
                                                const PipelineHit& selection);

}  // namespace pleat::timeline
