#include "models/background.h"

namespace pleat::models {

Background::~Background() {
    for (auto& [id, thread] : m_threads) thread.request_stop();
}

void Background::stop() {
    for (auto& [id, thread] : m_threads) thread.request_stop();
    m_running = false;
}

bool Background::finish(std::uint64_t id) {
    m_threads.erase(id);  // its last act was to call here, so joining is instant
    const bool wanted = id == m_newest && m_running;
    if (wanted) m_running = false;
    return wanted;
}

}  // namespace pleat::models
