#include "collector/range_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pleat::collector {
namespace {

std::uint64_t stackOf(trace::LaneId lane, std::uint16_t domain) {
    return (std::uint64_t{lane.index()} << 16) | domain;
}

}  // namespace

void RangeMatcher::see(trace::LaneId lane, base::TraceTime time) {
    base::TraceTime& last = m_lastOfLane[lane];
    last = std::max(last, time);
    m_last = std::max(m_last, time);
}

void RangeMatcher::close(EventBegin begin, base::TraceTime end, trace::EventFlag flag,
                         std::string_view more) {
    if (!more.empty()) {
        std::string& all = begin.arguments;
        if (all.empty()) {
            all = "{";
        } else {
            all.back() = ',';
        }
        all.append(more).push_back('}');
    }
    m_emit({begin.lane, begin.name, begin.domainName, trace::EventKind::Range, flag, begin.time,
            std::max(begin.time, end), std::move(begin.arguments)});
}

void RangeMatcher::push(EventBegin begin) {
    see(begin.lane, begin.time);
    m_open[stackOf(begin.lane, begin.domain)].push_back(std::move(begin));
}

void RangeMatcher::pop(trace::LaneId lane, std::uint16_t domain, base::TraceTime time,
                       std::string_view more) {
    see(lane, time);
    std::vector<EventBegin>& open = m_open[stackOf(lane, domain)];
    if (open.empty()) {
        m_diagnostics.add("unmatched_pop", [&] {
            return fmt::format("range end at {} ns without a begin", time.ns);
        });
        return;
    }
    close(std::move(open.back()), time, trace::EventFlag::None, more);
    open.pop_back();
}

void RangeMatcher::start(std::uint64_t range, EventBegin begin) {
    see(begin.lane, begin.time);
    if (const auto ended = m_ended.find(range); ended != m_ended.end()) {
        close(std::move(begin), ended->second.time, trace::EventFlag::None, ended->second.more);
        m_ended.erase(ended);
        return;
    }
    m_started.insert_or_assign(range, std::move(begin));
}

void RangeMatcher::end(std::uint64_t range, trace::LaneId lane, base::TraceTime time,
                       std::string_view more) {
    see(lane, time);
    const auto started = m_started.find(range);
    if (started == m_started.end()) {
        m_ended.insert_or_assign(range, EarlyEnd{time, std::string(more)});
        return;
    }
    close(std::move(started->second), time, trace::EventFlag::None, more);
    m_started.erase(started);
}

void RangeMatcher::mark(EventBegin mark) {
    see(mark.lane, mark.time);
    m_emit({mark.lane, mark.name, mark.domainName, trace::EventKind::Mark, trace::EventFlag::None,
            mark.time, mark.time, std::move(mark.arguments)});
}

void RangeMatcher::finish() {
    const auto leaveOpen = [&](EventBegin begin) {
        m_diagnostics.add("open_range", [&] {
            return fmt::format("\"{}\" began at {} ns and was open when its process ended",
                               begin.name, begin.time.ns);
        });
        const base::TraceTime last = m_lastOfLane[begin.lane];
        close(std::move(begin), last, trace::EventFlag::OpenAtEnd);
    };
    for (auto& [stack, open] : m_open) {
        for (EventBegin& begin : open) leaveOpen(std::move(begin));
    }
    for (auto& [range, begin] : m_started) leaveOpen(std::move(begin));
    for (const auto& [range, end] : m_ended) {
        m_diagnostics.add("unmatched_end", [&] {
            return fmt::format("range {} ends at {} ns without a start", range, end.time.ns);
        });
    }
    m_ended.clear();
    m_open.clear();
    m_started.clear();
}

}  // namespace pleat::collector
