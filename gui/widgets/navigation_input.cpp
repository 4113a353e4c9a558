#include "widgets/navigation_input.h"

#include <QKeySequence>
#include <QNativeGestureEvent>
#include <algorithm>

namespace pleat::widgets {

std::optional<Pinch> pinchOf(const QEvent& event) {
    if (event.type() != QEvent::NativeGesture) return std::nullopt;
    const auto& gesture = static_cast<const QNativeGestureEvent&>(event);
    if (gesture.gestureType() != Qt::ZoomNativeGesture) return std::nullopt;
    // One event's part of the whole motion; a broken driver may say anything.
    return Pinch{gesture.position().x(), 1 / std::clamp(1 + gesture.value(), 0.2, 5.0)};
}

std::string keyName(const QKeyEvent& event) {
    if (event.matches(QKeySequence::Undo)) return "Undo";
    if (event.matches(QKeySequence::Redo)) return "Redo";
    if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return {};
    return QKeySequence(event.key()).toString(QKeySequence::PortableText).toStdString();
}

timeline::Wheel wheelOf(const QWheelEvent& event, QPoint rows) {
    constexpr double kNotch = 120;
    const QPoint turned = event.angleDelta();
    return {
        turned.x() / kNotch, turned.y() / kNotch, event.modifiers().testFlag(Qt::ControlModifier),
        event.modifiers().testFlag(Qt::ShiftModifier), pointIn(rows, event.position().toPoint())};
}

}  // namespace pleat::widgets
