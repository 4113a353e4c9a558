#include "widgets/picture_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QPixmap>
#include <QSvgGenerator>

namespace pleat::widgets {
namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(PictureFile)
};

constexpr int kPointsPerInch = 72;

bool writeSvg(QWidget& widget, QFile& file) {
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize(widget.size());
    svg.setViewBox(widget.rect());
    QPainter painter;
    if (!painter.begin(&svg)) return false;
    widget.render(&painter);
    return painter.end();
}

// One page as large as the widget, a pixel a point.
bool writePdf(QWidget& widget, QFile& file) {
    QPdfWriter pdf(&file);
    pdf.setResolution(kPointsPerInch);
    pdf.setPageSize(QPageSize(QSizeF(widget.size()), QPageSize::Point));
    pdf.setPageMargins({});
    QPainter painter;
    if (!painter.begin(&pdf)) return false;
    widget.render(&painter);
    return painter.end();
}

}  // namespace

QString writePicture(QWidget& widget, const QString& name) {
    const bool isSvg = name.endsWith(QStringLiteral(".svg")),
               isPdf = name.endsWith(QStringLiteral(".pdf"));
    if (!isSvg && !isPdf && !name.endsWith(QStringLiteral(".png")))
        return Text::tr("%1: the name of a picture must end in .png, .svg or .pdf").arg(name);
    QFile file(name);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate))
        return Text::tr("%1: %2").arg(name, file.errorString());
    const bool written = isSvg   ? writeSvg(widget, file)
                         : isPdf ? writePdf(widget, file)
                                 : widget.grab().save(&file, "PNG");
    if (written && file.flush()) return {};
    return Text::tr("%1: the picture could not be written completely (%2)")
        .arg(name, file.errorString());
}

}  // namespace pleat::widgets
