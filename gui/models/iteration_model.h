// The one iteration that the pipeline view, the critical path and the facts speak of: analysed in
// the background when another is chosen or another trace comes. What is handed out is immutable and
// shared. One thread, the window's.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/iteration_analysis.h"
#include "models/background.h"
#include "models/trace_session.h"
#include "timeline/path_marks.h"
#include "timeline/pipeline_scene.h"

namespace pleat::models {

// An iteration analysed, and as the content of pictures. `trace` is the one all speak of.
struct IterationResults {
    std::shared_ptr<const trace::Trace> trace;
    analysis::IterationAnalysis analysis;
    timeline::PipelineScene scene;
    timeline::PathMarks marks = {};
};

class IterationModel : public QObject {
    Q_OBJECT

  public:
    explicit IterationModel(TraceSession& session, QObject* parent = nullptr);

    // Nothing chooses the complete one closest to the median.
    void choose(std::optional<std::int32_t> iteration);
    // Null while it is being analysed, and where there is none: problem() then says why.
    [[nodiscard]] std::shared_ptr<const IterationResults> results() const { return m_results; }
    [[nodiscard]] const QString& problem() const { return m_problem; }
    [[nodiscard]] bool working() const { return m_background.running(); }
    // What can be chosen, ascending: the iterations of the trace by their own numbers. Empty until
    // the first is analysed.
    [[nodiscard]] const std::vector<std::int32_t>& numbers() const { return m_numbers; }

  signals:
    void changed();

  private:
    void analyse();

    TraceSession& m_session;
    std::optional<std::int32_t> m_chosen;
    std::shared_ptr<const IterationResults> m_results;
    QString m_problem;
    std::vector<std::int32_t> m_numbers;
    Background m_background;
};

}  // namespace pleat::models
