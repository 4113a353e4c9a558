// Two fingers moved apart or together on a touch pad, as every picture of time reads it. Pure.
#pragma once

#include <QEvent>
#include <optional>

namespace pleat::widgets {

struct Pinch {
    double x = 0;       // where, in pixels of the widget
    double factor = 1;  // for timeline::zoomedAround: below 1 shows less time
};

// Nothing for any other event.
[[nodiscard]] std::optional<Pinch> pinchOf(const QEvent& event);

}  // namespace pleat::widgets
