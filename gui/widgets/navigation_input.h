// Qt's events as timeline::Navigator takes them. Pure.
#pragma once

#include <QKeyEvent>
#include <QWheelEvent>
#include <map>
#include <optional>
#include <string>

#include "timeline/navigator.h"

namespace pleat::widgets {

// Two fingers moved apart or together on a touch pad.
struct Pinch {
    double x = 0;       // where, in pixels of the widget
    double factor = 1;  // for Navigator::zoom
};

// Nothing for any other event.
[[nodiscard]] std::optional<Pinch> pinchOf(const QEvent& event);

// "W", "PgUp", "Undo"; the same with Shift. Empty where Ctrl, Alt or Meta make it one of the
// window's.
[[nodiscard]] std::string keyName(const QKeyEvent& event);

// What keys do in a view beside what they do in every one.
template <class View>
using KeyActions = std::map<std::string, void (*)(View&)>;

// False where the key does nothing.
template <class View>
bool runKey(const KeyActions<View>& actions, const std::string& key, View& view) {
    const auto found = actions.find(key);
    if (found == actions.end()) return false;
    found->second(view);
    return true;
}

// `rows`: where the rows begin, in pixels of the widget.
[[nodiscard]] timeline::Wheel wheelOf(const QWheelEvent& event, QPoint rows);
[[nodiscard]] inline timeline::Point pointIn(QPoint rows, QPoint position) {
    return {position.x() - rows.x(), position.y() - rows.y()};
}

}  // namespace pleat::widgets
