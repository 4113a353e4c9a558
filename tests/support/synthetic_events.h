// What the runtime would record of a made run: takes what the walk (synthetic_run.cpp) found to
// happen, one thing after another, and writes the events beside it. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/synthetic_run.h"

namespace pleat::testing {

class SyntheticEvents {
  public:
    // `options` outlives this.
    explicit SyntheticEvents(const SyntheticOptions& options);

    // The marks with which every rank says where it is, at its own moment.
    void announce(const std::vector<base::TraceTime>& moments);
    void setIteration(std::int32_t iteration) { m_iteration = iteration; }
    // From now on the rank's host is free to call at this time.
    void hostIsFree(std::int32_t rank, base::TraceTime time);

    void addPhase(std::int32_t rank, bool optimizer, base::Interval span);
    void addTask(SyntheticTask task);
    void addTransfer(SyntheticTransfer transfer);
    // What every rank did from begin to end.
    void addIteration(std::vector<base::Interval> ofRanks);

    [[nodiscard]] SyntheticRun finish() &&;

  private:
    void addMark(std::int32_t rank, base::TraceTime moment, std::string_view name,
                 std::string arguments);
    void addRange(std::int32_t rank, std::int32_t lane, std::string name, std::string_view domain,
                  std::string arguments, base::Interval span);
    void addNamed(std::int32_t rank, std::string_view name, base::Interval span);
    base::Interval calledFor(std::int32_t rank, base::Interval work);
    std::int32_t laneOf(const SyntheticTransfer& transfer);

    const SyntheticOptions& m_options;
    std::int32_t m_iteration = 0;
    std::vector<base::TraceTime> m_host;  // [rank]: when the host is free to call
    // [rank]: by dimension, kind and peer
    std::vector<
        std::map<std::tuple<trace::Dimension, schedule::ActionKind, std::int32_t>, std::int32_t>>
        m_laneOf;
    SyntheticRun m_result;
};

}  // namespace pleat::testing
