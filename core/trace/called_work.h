// Device work that computes or copies, by the moment its call was made: what a host range started.
// The one place that joins calls, their work and the ranges around them. Immutable once made; the
// columns must outlive it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trace/device_work.h"
#include "trace/trace.h"

namespace pleat::trace {

struct CalledWork {
    base::TraceTime called;
    EventId work;
};

class CalledWorkIndex {
  public:
    // What the trace's annotations say of its work.
    explicit CalledWorkIndex(const Trace& trace);
    // Of the work for which `counts` is true, with kinds that may differ from the trace's own.
    CalledWorkIndex(const Trace& trace, const DeviceWorkKinds& kinds,
                    const std::function<bool(EventId, DeviceWork)>& counts);

    // Called by the rank's threads within [begin, end) of `host`; ascending.
    [[nodiscard]] std::span<const CalledWork> within(RankId caller, base::Interval host) const;
    [[nodiscard]] bool any(RankId caller) const { return !m_ofRank[caller].empty(); }

  private:
    base::IdVector<RankTag, std::vector<CalledWork>> m_ofRank;
};

}  // namespace pleat::trace
