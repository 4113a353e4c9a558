// Which timer (timers.h) an event is, by its name. Each distinct name is looked up once. One thread
// at a time; the trace must outlive it.
#pragma once

#include <unordered_map>

#include "trace/timers.h"
#include "trace/trace.h"

namespace pleat::trace {

class TimerNames {
  public:
    explicit TimerNames(const Trace& trace) : m_trace(trace) {}

    // Null where its name is not a timer's.
    [[nodiscard]] const Timer* of(EventId event) {
        const base::StringId name = m_trace.columns().name[event.index()];
        const auto [known, isNew] = m_known.try_emplace(name, nullptr);
        if (isNew) known->second = timerNamed(m_trace.text(name));
        return known->second;
    }

  private:
    const Trace& m_trace;
    std::unordered_map<base::StringId, const Timer*> m_known;
};

}  // namespace pleat::trace
