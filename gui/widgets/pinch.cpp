#include "widgets/pinch.h"

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

}  // namespace pleat::widgets
