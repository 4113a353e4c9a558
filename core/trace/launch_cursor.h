// The calls that started device work, for work asked for in order. Where Trace::launchOf searches
// all dependencies, this goes on from the last answer: constant time for ids that ascend. One
// thread at a time; the trace must outlive it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "trace/trace.h"

namespace pleat::trace {

class LaunchCursor {
  public:
    explicit LaunchCursor(const Trace& trace) : m_dependencies(trace.dependencies()) {}

    // Invalid where none is recorded.
    [[nodiscard]] EventId of(EventId work) {
        if (!m_last.valid() || work < m_last) seek(work);
        m_last = work;
        while (m_next < m_dependencies.size() && m_dependencies[m_next].to < work) ++m_next;
        for (std::size_t i = m_next; i < m_dependencies.size() && m_dependencies[i].to == work;
             ++i) {
            if (m_dependencies[i].kind == DependencyKind::Launch) return m_dependencies[i].from;
        }
        return {};
    }

  private:
    void seek(EventId work) {
        const auto found = std::lower_bound(
            m_dependencies.begin(), m_dependencies.end(), work,
            [](const Dependency& dependency, EventId to) { return dependency.to < to; });
        m_next = static_cast<std::size_t>(found - m_dependencies.begin());
    }

    std::span<const Dependency> m_dependencies;  // ascending by `to`
    std::size_t m_next = 0;
    EventId m_last;
};

}  // namespace pleat::trace
