// Keys and mouse for tests of widgets, delivered at once.
#pragma once

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QWheelEvent>
#include <QWidget>

namespace pleat::testing {

inline void pressKey(QWidget& widget, int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QKeyEvent press(QEvent::KeyPress, key, modifiers);
    QApplication::sendEvent(&widget, &press);
}

inline void mouse(QWidget& widget, QEvent::Type type, QPoint at, Qt::MouseButton button,
                  Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    const Qt::MouseButtons held =
        type == QEvent::MouseButtonRelease ? Qt::MouseButtons() : Qt::MouseButtons(button);
    QMouseEvent event(type, at, widget.mapToGlobal(at),
                      type == QEvent::MouseMove ? Qt::NoButton : button, held, modifiers);
    QApplication::sendEvent(&widget, &event);
}

inline void moveTo(QWidget& widget, QPoint at) {
    mouse(widget, QEvent::MouseMove, at, Qt::NoButton);
}

inline void drag(QWidget& widget, QPoint from, QPoint to,
                 Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    mouse(widget, QEvent::MouseButtonPress, from, Qt::LeftButton, modifiers);
    mouse(widget, QEvent::MouseMove, (from + to) / 2, Qt::LeftButton, modifiers);
    mouse(widget, QEvent::MouseMove, to, Qt::LeftButton, modifiers);
    mouse(widget, QEvent::MouseButtonRelease, to, Qt::LeftButton, modifiers);
}

inline void click(QWidget& widget, QPoint at) { drag(widget, at, at); }

inline void turnWheel(QWidget& widget, QPoint at, int notches,
                      Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, widget.mapToGlobal(at), {}, QPoint(0, notches * 120), Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &event);
}

// Fingers on a touch pad that move apart by this share, or together where it is negative.
inline void pinch(QWidget& widget, QPoint at, double apart) {
    const QPoint global = widget.mapToGlobal(at);
    QNativeGestureEvent event(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(), 2,
                              at, at, global, apart, {});
    QApplication::sendEvent(&widget, &event);
}

}  // namespace pleat::testing
