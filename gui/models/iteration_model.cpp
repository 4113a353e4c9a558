#include "models/iteration_model.h"

#include <utility>

#include "models/path_marks_maker.h"
#include "models/pipeline_scene_maker.h"
#include "models/text.h"

namespace pleat::models {
namespace {

struct Answer {
    std::shared_ptr<const IterationResults> results;
    QString problem;
    std::vector<std::int32_t> numbers;
};

std::vector<std::int32_t> iterationNumbers(const trace::Trace& trace) {
    std::vector<std::int32_t> numbers;
    for (const graph::IterationWindow& window : graph::iterationWindows(trace))
        numbers.push_back(window.iteration);
    return numbers;
}

Answer analysed(const std::shared_ptr<const trace::Trace>& trace,
                std::optional<std::int32_t> iteration) {
    auto analysis = analysis::analyseIteration(*trace, iteration);
    std::vector<std::int32_t> numbers = iterationNumbers(*trace);
    if (!analysis) return {nullptr, shownText(analysis.error().message, 4'000), std::move(numbers)};
    timeline::PipelineScene scene = makePipelineScene(*trace, *analysis);
    timeline::PathMarks marks = makePathMarks(*trace, *analysis);
    return {std::make_shared<const IterationResults>(
                IterationResults{trace, std::move(*analysis), std::move(scene), std::move(marks)}),
            {},
            std::move(numbers)};
}

}  // namespace

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
    if (iteration == m_chosen && (m_results || working())) return;
    if (iteration && m_results && m_results->analysis.window.iteration == *iteration) return;
    m_chosen = iteration;
    analyse();
}

void IterationModel::analyse() {
    m_background.stop();
    m_results.reset();
    m_problem.clear();
    if (const auto trace = m_session.trace()) {
        m_background.start([trace, iteration = m_chosen](
                               const std::stop_token&) { return analysed(trace, iteration); },
                           [this](Answer answer) {
                               m_results = std::move(answer.results);
                               m_problem = answer.problem;
                               m_numbers = std::move(answer.numbers);
                               emit changed();
                           });
    }
    emit changed();
}

}  // namespace pleat::models
