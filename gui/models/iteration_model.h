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
#include "models/background_answer.h"
#include "models/trace_session.h"
#include "timeline/path_marks.h"
#include "timeline/pipeline_scene.h"

namespace pleat::models {

// An iteration analysed, and as the content of pictures. `trace` is the one all speak of.
struct IterationResults {
    IterationResults(std::shared_ptr<const trace::Trace> of, analysis::IterationAnalysis analysed);

    [[nodiscard]] const timeline::PipelineScene& sceneBy(timeline::PipelineRows rows) const {
        return rows == timeline::PipelineRows::Rank ? scene : stageScene;
    }

    std::shared_ptr<const trace::Trace> trace;
    analysis::IterationAnalysis analysis;
    timeline::PipelineScene scene, stageScene;
    // How busy the ranks were over the window (timeline/busy_strip.h).
    std::vector<std::uint8_t> busy;
    timeline::PathMarks marks;
};

class IterationModel : public QObject {
    Q_OBJECT

  public:
    explicit IterationModel(TraceSession& session, QObject* parent = nullptr);

    // Nothing chooses the complete one closest to the median.
    void choose(std::optional<std::int32_t> iteration);
    // Null while it is being analysed, and where there is none: problem() then says why.
    [[nodiscard]] std::shared_ptr<const IterationResults> results() const {
        return m_answer.results();
    }
    [[nodiscard]] const QString& problem() const { return m_answer.problem(); }
    [[nodiscard]] bool working() const { return m_answer.working(); }
    // What can be chosen, ascending: the iterations of the trace by their own numbers. Empty until
    // the first is analysed.
    [[nodiscard]] const std::vector<std::int32_t>& numbers() const { return m_numbers; }

  signals:
    void changed();

  private:
    void analyse();

    TraceSession& m_session;
    std::optional<std::int32_t> m_chosen;
    std::vector<std::int32_t> m_numbers;
    BackgroundAnswer<IterationResults> m_answer;
};

}  // namespace pleat::models
