#include "widgets/command_line.h"

#include <QCommandLineParser>
#include <QRegularExpression>

namespace pleat::widgets {
namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(CommandLine)
};

base::Error usage(const QString& message) {
    return {base::ErrorCode::Usage, message.toStdString()};
}

base::Result<base::Interval> rangeOf(const QString& text) {
    static const QRegularExpression form(QStringLiteral("^(\\d{1,18}):(\\d{1,18})$"));
    const auto match = form.match(text);
    const qlonglong begin = match.captured(1).toLongLong(), end = match.captured(2).toLongLong();
    if (match.hasMatch() && begin < end) return base::Interval{{begin}, {end}};
    return usage(QStringLiteral("--range %1: expected A:B in nanoseconds from the first event, "
                                "A before B, e.g. 0:5000000")
                     .arg(text));
}

base::Result<QSize> sizeOf(const QString& text) {
    static const QRegularExpression form(QStringLiteral("^(\\d{1,5})x(\\d{1,5})$"));
    const auto match = form.match(text);
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    // A window, its picture and its file are in memory at once: 12 bytes and 50 ns a pixel.
    constexpr int kLeast = 200, kMost = 16'384;
    constexpr qint64 kMostPixels = 64'000'000;
    const bool fits = size.width() >= kLeast && size.width() <= kMost && size.height() >= kLeast &&
                      size.height() <= kMost && qint64{size.width()} * size.height() <= kMostPixels;
    if (match.hasMatch() && fits) return size;
    return usage(QStringLiteral("--size %1: expected WxH in pixels, each 200 to 16384 and at most "
                                "64 million in all, e.g. 1280x800")
                     .arg(text));
}

void addOptions(QCommandLineParser& parser) {
    parser.setApplicationDescription(Text::tr("Shows a trace: where each iteration's time went."));
    parser.addPositionalArgument(QStringLiteral("trace"),
                                 Text::tr("A *.pleat file, other tools' files or a folder of them"),
                                 QStringLiteral("[trace…]"));
    const auto option = [&parser](const char* name, const QString& does, const char* value) {
        parser.addOption({QString::fromLatin1(name), does, QString::fromLatin1(value)});
    };
    option("rank",
           Text::tr("Number FILE's ranks from N, or one by one with FILE=4,5,6,7 (repeatable)"),
           "FILE=N");
    option("rules", Text::tr("Rules in JSON for what event names mean (docs/importing.md)"),
           "FILE");
    option("screenshot", Text::tr("Write a picture of the window (.png, .svg, .pdf) and exit"),
           "FILE");
    option("view", Text::tr("Page to show: pipeline, timeline, answer, compare, sql, diagnostics"),
           "PAGE");
    option("trace", Text::tr("The trace to open (same as the argument)"), "FILE");
    option("with", Text::tr("Compare with this run (repeat it for a run of several files)"),
           "FILE");
    option("range", Text::tr("Time range to show, in ns from the first event"), "A:B");
    option("size", Text::tr("Picture size in pixels"), "WxH");
}

// What is to be opened, and beside it.
base::Result<void> readTraces(const QCommandLineParser& parser, ScreenshotOptions& options) {
    const auto addTo = [](opening::OpenRequest& request, const QStringList& files) {
        for (const QString& file : files) request.files.emplace_back(file.toStdString());
    };
    addTo(options.trace, parser.positionalArguments() + parser.values(QStringLiteral("trace")));
    addTo(options.other, parser.values(QStringLiteral("with")));
    options.trace.rules = options.other.rules = parser.value(QStringLiteral("rules")).toStdString();
    opening::OpenRequest given;
    for (const QString& rank : parser.values(QStringLiteral("rank"))) {
        if (const auto added = given.addRank(rank.toStdString()); !added)
            return added.error().within("--rank");
    }
    opening::OpenRequest* const runs[] = {&options.trace, &options.other};
    if (const auto shared = opening::shareRanks(given, runs); !shared) return shared.error();
    if (!options.other.files.empty() && options.trace.files.empty())
        return usage(
            QStringLiteral("--with: name the run to compare it with first, e.g. pleat view "
                           "base.pleat --with new.pleat"));
    return {};
}

}  // namespace

base::Result<CommandLine> parseCommandLine(const QStringList& arguments) {
    QCommandLineParser parser;
    const QCommandLineOption help = parser.addHelpOption();
    addOptions(parser);
    if (!parser.parse(arguments)) return usage(parser.errorText());
    if (parser.isSet(help)) parser.showHelp();

    CommandLine line;
    ScreenshotOptions& screenshot = line.screenshot;
    const auto value = [&parser](const char* name) {
        return parser.value(QString::fromLatin1(name));
    };
    if (const auto read = readTraces(parser, screenshot); !read) return read.error();
    screenshot.file = value("screenshot");
    line.takeScreenshot = parser.isSet(QStringLiteral("screenshot"));
    line.page = value("view");
    if (!screenshot.other.files.empty()) {
        const QString compare = QStringLiteral("compare");
        if (!line.page.isEmpty() && line.page != compare)
            return usage(QStringLiteral("--with: needs --view compare, not %1").arg(line.page));
        line.page = compare;
    }
    if (!line.page.isEmpty()) screenshot.view = line.page;
    if (parser.isSet(QStringLiteral("range"))) {
        const auto range = rangeOf(value("range"));
        if (!range) return range.error();
        screenshot.range = *range;
    }
    if (parser.isSet(QStringLiteral("size"))) {
        const auto size = sizeOf(value("size"));
        if (!size) return size.error();
        screenshot.size = *size;
    }
    if (line.takeScreenshot && screenshot.trace.files.empty())
        return usage(QStringLiteral("--screenshot: name the trace, with --trace FILE"));
    return line;
}

}  // namespace pleat::widgets
