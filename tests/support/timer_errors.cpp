#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "schedule/markers.h"
#include "support/recorded_run.h"

namespace pleat::testing {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;

// What one thread or stream did, in order.
using Lane = std::vector<Interval*>;

class Errors {
  public:
    explicit Errors(const TimerErrors& errors) : m_size(errors.noise.ns), m_random(errors.seed) {}

    void move(std::map<std::pair<std::int32_t, std::int32_t>, Lane>& lanes) {
        for (auto& [key, lane] : lanes) move(lane);
    }

  private:
    void move(Lane& lane) {
        std::stable_sort(lane.begin(), lane.end(), [](const Interval* a, const Interval* b) {
            return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
        });
        TraceTime before{std::numeric_limits<std::int64_t>::min()};
        for (Interval* const span : lane) {
            span->begin = std::max(before, span->begin + error());
            span->end = std::max(span->begin, span->end + error());
            before = span->end;
        }
    }
    Duration error() {
        return {std::uniform_int_distribution<std::int64_t>(-m_size, m_size)(m_random)};
    }

    std::int64_t m_size;
    std::mt19937 m_random;
};

void moveWhatHappened(SyntheticRun& run, Errors& errors) {
    std::map<std::pair<std::int32_t, std::int32_t>, Lane> lanes;
    for (SyntheticTask& task : run.tasks) {
        for (Interval& piece : task.work) lanes[{task.rank, 0}].push_back(&piece);
    }
    for (SyntheticPhase& phase : run.phases) lanes[{phase.rank, 0}].push_back(&phase.span);
    for (SyntheticTransfer& transfer : run.transfers)
        lanes[{transfer.rank, transfer.lane}].push_back(&transfer.span);
    errors.move(lanes);
    for (SyntheticTask& task : run.tasks)
        task.span = {task.work.front().begin, task.work.back().end};
}

// Iterations stay where they are, but hold what is in them.
void moveEvents(SyntheticRun& run, Errors& errors) {
    std::map<std::pair<std::int32_t, std::int32_t>, Lane> lanes;
    for (SyntheticEvent& event : run.events) {
        const bool holdsOthers =
            event.arguments.empty() || event.name == schedule::markers::kIteration;
        if (event.kind == trace::EventKind::Range && !holdsOthers)
            lanes[{event.rank, event.lane}].push_back(&event.span);
    }
    errors.move(lanes);
}

}  // namespace

SyntheticRun withTimerErrors(SyntheticRun run, const TimerErrors& errors) {
    if (errors.digested) {
        for (SyntheticTransfer& transfer : run.transfers) transfer.span.begin = transfer.ready;
    }
    if (errors.noise.ns == 0) return run;
    Errors all(errors);
    moveWhatHappened(run, all);
    moveEvents(run, all);
    return run;
}

}  // namespace pleat::testing
