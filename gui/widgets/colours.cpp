#include "widgets/colours.h"

#include <array>

#include "models/answer_figures.h"
#include "timeline/pipeline_geometry.h"

namespace pleat::widgets {
namespace {

const std::array<QColor, 7> kHues = {
    QColor(0, 114, 178),  QColor(230, 159, 0), QColor(0, 158, 115), QColor(204, 121, 167),
    QColor(86, 180, 233), QColor(213, 94, 0),  QColor(240, 228, 66)};
const QColor kNeutral(150, 150, 150);

}  // namespace

QColor partColour(std::size_t part) {
    // compute, moving, waiting, copy, then the causes in the order of analysis::BubbleCause.
    static const std::array<QColor, 15> colours = {
        QColor(0, 114, 178),  QColor(86, 180, 233),  QColor(204, 121, 167), QColor(0, 158, 115),
        QColor(160, 82, 45),  QColor(240, 228, 66),  QColor(250, 240, 150), QColor(230, 159, 0),
        QColor(190, 120, 60), QColor(213, 94, 0),    QColor(136, 34, 85),   QColor(140, 200, 180),
        QColor(120, 94, 240), QColor(110, 110, 110), QColor(200, 200, 200)};
    return part < colours.size() ? colours[part] : kNeutral;
}

QBrush partBrush(std::size_t part) {
    return {partColour(part), part < models::kFirstCause ? Qt::SolidPattern : Qt::BDiagPattern};
}

QColor taskColour(const timeline::PipelineTask& task) {
    using schedule::ActionKind;
    if (task.work != timeline::PipelineWork::Task || task.microbatch < 0) return kNeutral;
    const QColor hue = kHues[static_cast<std::size_t>(task.microbatch % timeline::kMicrobatchHues)];
    switch (task.kind) {
        case ActionKind::FullBackward:
            return hue.darker(150);
        case ActionKind::InputBackward:
            return hue.darker(125);
        case ActionKind::WeightBackward:
            return hue.lighter(150);
        default:
            return hue;
    }
}

QColor paler(const QColor& colour, const QColor& background, int share) {
    const auto part = [share](int a, int b) { return (a * (255 - share) + b * share) / 255; };
    return {part(colour.red(), background.red()), part(colour.green(), background.green()),
            part(colour.blue(), background.blue())};
}

QColor textOn(const QColor& colour) {
    // Relative luminance (WCAG 2.1), near enough in the encoded values.
    const double light =
        0.2126 * colour.redF() + 0.7152 * colour.greenF() + 0.0722 * colour.blueF();
    return light > 0.5 ? Qt::black : Qt::white;
}

}  // namespace pleat::widgets
