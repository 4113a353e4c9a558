#include "importers/nsight_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace pleat::importers {
namespace {

// CUPTI counts from 1.
bool isId(const std::optional<std::int64_t>& correlation) { return correlation.value_or(0) != 0; }

template <class Entry>
bool sameKey(const Entry& a, const Entry& b) {
    return a.process == b.process && a.correlation == b.correlation;
}

// A count with its first example, put into words once: half of an export may be without partner.
struct Tally {
    base::DiagnosticCode code;
    const char* meaning;
    std::string example;
    std::int64_t count = 0;

    void add(trace::TraceBuilder& builder, std::uint32_t process, std::int64_t correlation) {
        if (++count > 1) return;
        example = fmt::format("correlation id {} of process {}: {}", correlation,
                              builder.ranks()[trace::RankId(process)].pid, meaning);
    }
    void report(trace::TraceBuilder& builder) const {
        if (count > 0) builder.diagnostics().add(code, example, count);
    }
};

}  // namespace

void NsightLaunches::addCall(const Call& call) {
    if (!isId(call.correlation)) return;
    m_calls.push_back({call.process.index(), static_cast<std::uint32_t>(call.event),
                       *call.correlation, call.isDriver, call.launches, false});
}

void NsightLaunches::addWork(const Work& work) {
    if (!isId(work.correlation)) {
        if (work.event && !work.isWait) ++m_uncorrelated;
        return;
    }
    m_work.push_back({work.process.index(),
                      work.event ? static_cast<std::uint32_t>(*work.event) : kUntimed,
                      *work.correlation, false, false, work.isWait});
}

void NsightLaunches::join(trace::TraceBuilder& builder) {
    const auto order = [](const Entry& a, const Entry& b) {
        return std::tie(a.process, a.correlation, a.isDriver, a.event) <
               std::tie(b.process, b.correlation, b.isDriver, b.event);
    };
    std::sort(m_calls.begin(), m_calls.end(), order);
    std::sort(m_work.begin(), m_work.end(), order);
    Tally unlaunched{
        "work_without_launch", "the call that launched it is missing from the file", {}, 0};
    Tally unused{"launch_without_work",
                 "the launch has no work in the file: captured into a graph, outside the recorded "
                 "range, or lost at the end",
                 {},
                 0};

    auto work = m_work.begin();
    const auto joinWork = [&](const Entry* call) {
        if (!work->isWait && call == nullptr && work->event != kUntimed)
            unlaunched.add(builder, work->process, work->correlation);
        if (call != nullptr && work->event != kUntimed)
            builder.addDependency(
                call->event, work->event,
                work->isWait ? trace::DependencyKind::Flow : trace::DependencyKind::Launch);
        ++work;
    };
    for (auto first = m_calls.begin(); first != m_calls.end();) {
        while (work != m_work.end() && !sameKey(*work, *first) && order(*work, *first))
            joinWork(nullptr);
        auto last = first;
        bool launches = false, started = false;
        for (; last != m_calls.end() && sameKey(*last, *first); ++last)
            launches = launches || last->launches;
        while (work != m_work.end() && sameKey(*work, *first)) {
            started = started || !work->isWait;
            joinWork(&*first);
        }
        if (launches && !started) unused.add(builder, first->process, first->correlation);
        first = last;
    }
    while (work != m_work.end()) joinWork(nullptr);
    unlaunched.report(builder);
    unused.report(builder);
    if (m_uncorrelated > 0)
        builder.diagnostics().add("work_without_launch", "device work has no correlation id",
                                  m_uncorrelated);
}

}  // namespace pleat::importers
