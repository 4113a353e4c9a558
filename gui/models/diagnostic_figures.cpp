#include "models/diagnostic_figures.h"

#include <QCoreApplication>
#include <algorithm>

#include "models/cited_places.h"
#include "models/text.h"

namespace pleat::models {
namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(DiagnosticFigures)
};

QString nameOf(base::Severity severity) {
    switch (severity) {
        case base::Severity::Info:
            return Text::tr("note");
        case base::Severity::DataLoss:
            return Text::tr("data loss");
        case base::Severity::Error:
            return Text::tr("error");
    }
    return {};
}

}  // namespace

Figures diagnosticFigures(const base::Diagnostics& diagnostics, const trace::Trace* trace) {
    std::vector<base::Diagnostic> entries(diagnostics.entries().begin(),
                                          diagnostics.entries().end());
    std::stable_sort(entries.begin(), entries.end(),
                     [](const base::Diagnostic& a, const base::Diagnostic& b) {
                         return a.severity > b.severity;
                     });
    const std::vector<Place> places =
        trace != nullptr ? citedPlaces(*trace, entries) : std::vector<Place>(entries.size());
    Figures figures;
    figures.columns = {Text::tr("Severity"), Text::tr("What"), Text::tr("Count"),
                       Text::tr("Example")};
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const base::Diagnostic& entry = entries[i];
        figures.rows.push_back({{nameOf(entry.severity), {}, {}},
                                {shownText(entry.code), {}, {}},
                                {QString::number(entry.count), qlonglong{entry.count}, {}},
                                {shownText(entry.example, 4'000), {}, places[i]}});
    }
    return figures;
}

}  // namespace pleat::models
