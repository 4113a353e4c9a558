#include "timeline/navigation_history.h"

namespace pleat::timeline {

void NavigationHistory::record(const Viewport& viewport, Motion motion) {
    constexpr std::size_t kMostSteps = 500;
    if (viewport == current()) return;
    m_steps.resize(m_at + 1);
    if (motion == Motion::Continues && m_steps.back().motion == Motion::Continues) {
        m_steps.back().viewport = viewport;
        return;
    }
    if (m_steps.size() == kMostSteps) m_steps.erase(m_steps.begin());
    m_steps.push_back({viewport, motion});
    m_at = m_steps.size() - 1;
}

void NavigationHistory::endMotion() { m_steps[m_at].motion = Motion::Jump; }

std::optional<Viewport> NavigationHistory::undo() {
    if (m_at == 0) return std::nullopt;
    endMotion();
    return m_steps[--m_at].viewport;
}

std::optional<Viewport> NavigationHistory::redo() {
    if (m_at + 1 == m_steps.size()) return std::nullopt;
    return m_steps[++m_at].viewport;
}

void NavigationHistory::fit(base::Interval whole, std::int32_t width) {
    for (Step& step : m_steps) step.viewport = fitted(step.viewport, whole, width);
}

NavigationHistory NavigationHistory::shifted(base::Duration by) const {
    NavigationHistory later = *this;
    for (Step& step : later.m_steps) step.viewport.begin = step.viewport.begin + by;
    return later;
}

}  // namespace pleat::timeline
