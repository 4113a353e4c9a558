// What a colour means in figures and in the pipeline. Hues are those of Okabe and Ito ("Color
// Universal Design", 2008), told apart with any of the common colour-vision deficiencies; a number,
// a name or a hatching always says the same again. Pure.
#pragma once

#include <QBrush>
#include <QColor>

#include "timeline/pipeline_scene.h"

namespace pleat::widgets {

// Of a part of a bar (models/answer_figures.h).
[[nodiscard]] QColor partColour(std::size_t part);
// The same, hatched where it is bubble.
[[nodiscard]] QBrush partBrush(std::size_t part);
// By microbatch; backward darker, weight gradients lighter than forward.
[[nodiscard]] QColor taskColour(const timeline::PipelineTask& task);
// With `share` of 255 parts of the background.
[[nodiscard]] QColor paler(const QColor& colour, const QColor& background, int share);
// Black or white.
[[nodiscard]] QColor textOn(const QColor& colour);

}  // namespace pleat::widgets
