// What tests of the viewer share: waiting for the event loop, and traces on disk to open.
#pragma once

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
#include <filesystem>

#include "annotate/annotate.h"
#include "models/figure_model.h"
#include "store/writer.h"
#include "support/synthetic_run.h"
#include "support/temporary_folder.h"

namespace pleat::testing {

// Runs the event loop until `condition` holds; false when it does not within a minute.
template <class Condition>
[[nodiscard]] bool waitUntil(Condition condition) {
    const QDeadlineTimer limit(60'000);
    while (!condition() && !limit.hasExpired())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 10);
    return condition();
}

// Two pipeline ranks, two chunks, folded, four microbatches; 2 replicas, three iterations.
inline SyntheticOptions foldedOptions() {
    SyntheticOptions options = balancedOptions("folded", 2);
    options.iterations = 3;
    return options;
}

inline trace::Trace traceWith(const SyntheticOptions& options) {
    return *annotate::annotate(traceOf(makeSyntheticRun(options)));
}

inline trace::Trace foldedTrace() { return traceWith(foldedOptions()); }

inline std::filesystem::path writeFolded(const test::TemporaryFolder& folder) {
    const auto file = folder.file("folded.pleat");
    (void)store::writeTrace(foldedTrace(), file);
    return file;
}

// Of a table of two columns, what and value; empty where it does not say.
inline QString valueOf(const models::Figures& facts, const QString& what) {
    for (const auto& row : facts.rows) {
        if (row[0].text == what) return row[1].text;
    }
    return {};
}

}  // namespace pleat::testing
