#include "models/iteration_model.h"

#include <utility>

#include "models/path_marks_maker.h"
#include "models/pipeline_scene_maker.h"
#include "models/text.h"
#include "timeline/busy_strip.h"

namespace pleat::models {
namespace {

std::vector<std::int32_t> iterationNumbers(const graph::RunIndex& index) {
    std::vector<std::int32_t> numbers;
    for (const graph::IterationWindow& window : index.windows())
        numbers.push_back(window.iteration);
    return numbers;
}

constexpr std::size_t kStripParts = 2'048;

std::vector<std::uint8_t> busyStrip(const timeline::PipelineScene& scene) {
    timeline::BusyStrip strip(scene.window, kStripParts);
    for (const timeline::PipelineTask& task : scene.tasks) strip.add(task.span);
    return strip.shares(scene.rows.size());
}

Answer<IterationResults> analysed(const std::shared_ptr<const trace::Trace>& trace,
                                  const graph::RunIndex& index,
                                  std::optional<std::int32_t> iteration) {
    auto analysis = analysis::analyseIteration(index, iteration);
    if (!analysis) return {nullptr, shownText(analysis.error().message, 4'000)};
    return {std::make_shared<const IterationResults>(trace, std::move(*analysis)), {}};
}

}  // namespace

IterationResults::IterationResults(std::shared_ptr<const trace::Trace> of,
                                   analysis::IterationAnalysis analysed)
    : trace(std::move(of)),
      analysis(std::move(analysed)),
      scene(makePipelineScene(*trace, analysis, timeline::PipelineRows::Rank)),
      stageScene(makePipelineScene(*trace, analysis, timeline::PipelineRows::Stage)),
      busy(busyStrip(scene)),
      marks(makePathMarks(*trace, analysis)) {}

IterationModel::IterationModel(TraceSession& session, QObject* parent)
    : QObject(parent), m_session(session) {
    connect(&session, &TraceSession::traceChanged, this, [this] {
        // The same recording, read again, keeps the iteration one looks at.
        if (!m_session.trace()) {
            m_chosen.reset();
            m_numbers.clear();
        }
        analyse();
    });
}

void IterationModel::choose(std::optional<std::int32_t> iteration) {
    if (iteration == m_chosen && (results() || working())) return;
    if (iteration && results() && results()->analysis.window.iteration == *iteration) return;
    m_chosen = iteration;
    analyse();
}

void IterationModel::analyse() {
    m_answer.clear();
    if (const auto trace = m_session.trace()) {
        const auto numbers = std::make_shared<std::vector<std::int32_t>>();
        m_answer.start(
            [trace, index = m_session.index(), iteration = m_chosen,
             numbers](const std::stop_token&) {
                *numbers = iterationNumbers(*index);
                return analysed(trace, *index, iteration);
            },
            [this, numbers] {
                m_numbers = std::move(*numbers);
                emit changed();
            });
    }
    emit changed();
}

}  // namespace pleat::models
