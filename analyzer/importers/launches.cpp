#include "importers/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/say.h"

namespace pleat::importers {
namespace {

// Most files have their launches in order.
template <class Entries>
void sortNearlySorted(Entries& entries) {
    if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
}

}  // namespace

void Launches::removeDuplicates() {
    const auto key = [&](const Entry& entry) {
        const trace::Event event = m_builder.event(entry.added);
        return std::tuple(entry.correlation, event.lane, event.span.begin, event.span.end,
                          event.name);
    };
    std::vector<std::size_t> twice;
    for (auto first = m_work.begin(); first != m_work.end();) {
        auto last = first + 1;
        while (last != m_work.end() && last->correlation == first->correlation) ++last;
        if (last - first > 1 && first->correlation != 0) {
            std::sort(first, last, [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
            for (auto entry = first + 1; entry != last; ++entry) {
                if (key(*entry) == key(*(entry - 1))) twice.push_back(entry->added);
            }
        }
        first = last;
    }
    if (twice.empty()) return;
    std::sort(twice.begin(), twice.end());
    m_builder.diagnostics().add(
        "duplicate_device_work",
        [&] {
            return fmt::format("\"{}\" appears twice with the same times; kept once",
                               m_builder.text(m_builder.event(twice.front()).name));
        },
        static_cast<std::int64_t>(twice.size()));
    m_builder.removeEvents(twice);
    const auto moved = [&](std::vector<Entry>& entries) {
        std::erase_if(entries, [&](const Entry& entry) {
            return std::binary_search(twice.begin(), twice.end(), entry.added);
        });
        for (Entry& entry : entries) {
            entry.added -= static_cast<std::uint32_t>(
                std::lower_bound(twice.begin(), twice.end(), entry.added) - twice.begin());
        }
    };
    moved(m_calls);
    moved(m_work);
}

void Launches::finish() {
    sortNearlySorted(m_calls);
    sortNearlySorted(m_work);
    removeDuplicates();
    sortNearlySorted(m_work);
    auto work = m_work.begin();
    const auto orphan = [&](const Entry& entry) {
        const trace::Event event = m_builder.event(entry.added);
        m_builder.diagnostics().add("work_without_launch", [&] {
            return fmt::format(
                "\"{}\" at {} ns: the call that launched it is missing from the file (made "
                "before the recording started, or not recorded)",
                base::printable(m_builder.text(event.name), 80), event.span.begin.ns);
        });
    };
    for (auto call = m_calls.begin(); call != m_calls.end();) {
        for (; work != m_work.end() && work->correlation < call->correlation; ++work) orphan(*work);
        const auto firstOfCall = work;
        for (; work != m_work.end() && work->correlation == call->correlation; ++work)
            m_builder.addDependency(call->added, work->added, trace::DependencyKind::Launch);
        const trace::Event event = m_builder.event(call->added);
        const std::string_view name = m_builder.text(event.name);
        if (work != firstOfCall) {
            m_lastLaunch = std::max(m_lastLaunch, event.span.begin);
        } else if (name.find("Launch") != std::string_view::npos) {
            m_unstarted.push_back(call->added);
            m_builder.diagnostics().add("launch_without_work", [&] {
                return fmt::format("{} with correlation {} launched no work that is in the file",
                                   name, call->correlation);
            });
        }
        const std::uint32_t correlation = call->correlation;
        while (call != m_calls.end() && call->correlation == correlation) ++call;
    }
    for (; work != m_work.end(); ++work) orphan(*work);
    noteUnstarted();
    m_calls = {};
    m_work = {};
}

void Launches::noteUnstarted() {
    const auto last = std::count_if(
        m_unstarted.begin(), m_unstarted.end(),
        [&](std::uint32_t call) { return m_builder.event(call).span.begin > m_lastLaunch; });
    if (last == 0 || m_work.empty()) return;
    m_builder.diagnostics().add("device_recording_ended", [&] {
        return fmt::format(
            "the last {} launches have no work in the file: the device recording ended "
            "before the host recording, so the last step is incomplete",
            last);
    });
}

}  // namespace pleat::importers
