// A widget as a picture in a file: PNG in pixels of the screen, SVG and PDF as lines and text.
#pragma once

#include <QString>
#include <QWidget>

namespace pleat::widgets {

// The format is the file's ending: .png .svg .pdf. The error in one line, else empty.
[[nodiscard]] QString writePicture(QWidget& widget, const QString& file);

}  // namespace pleat::widgets
