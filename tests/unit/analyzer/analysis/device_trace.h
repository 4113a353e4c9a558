// A trace of one rank's device, written down by hand: iteration ranges, calls, and the work they
// started on streams. Times in ns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "annotate/annotate.h"
#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace pleat::testing {

namespace categories = trace::categories;

// One rank with a host thread and streams.
class DeviceTrace {
  public:
    DeviceTrace() {
        trace::Rank rank;
        rank.number = 0;
        m_rank = m_builder.addRank(rank);
        m_host = m_builder.addLane({m_rank, trace::LaneKind::HostThread, 1, ""});
    }
    DeviceTrace& step(int number, std::int64_t begin, std::int64_t end) {
        return add(m_host, categories::kAnnotation, "ProfilerStep#" + std::to_string(number), begin,
                   end);
    }
    DeviceTrace& range(const std::string& name, std::int64_t begin, std::int64_t end) {
        return add(m_host, categories::kAnnotation, name, begin, end);
    }
    // A call at `called` that starts the work; none where it is negative.
    DeviceTrace& work(std::int64_t called, std::int64_t begin, std::int64_t end,
                      std::string_view category = categories::kKernel,
                      const std::string& name = "gemm", std::int64_t stream = 7) {
        if (called >= 0)
            add(m_host, categories::kRuntimeCall, "cudaLaunchKernel", called, called + 1);
        add(laneOf(stream), category, name, begin, end);
        if (called >= 0) {
            m_builder.addDependency(m_builder.eventCount() - 2, m_builder.eventCount() - 1,
                                    trace::DependencyKind::Launch);
        }
        return *this;
    }
    DeviceTrace& copied(std::int64_t called, std::int64_t begin, std::int64_t end,
                        std::int64_t bytes) {
        m_arguments = "{\"bytes\":" + std::to_string(bytes) + "}";
        return work(called, begin, end, categories::kCopy, "Memcpy HtoD (Pinned -> Device)", 8);
    }
    DeviceTrace& untracedCall(std::int64_t called) {
        return add(m_host, categories::kRuntimeCall, "cudaLaunchKernel", called, called + 1);
    }
    [[nodiscard]] trace::Trace build() {
        return annotate::annotate(std::move(m_builder).build().trace).value();
    }

  private:
    DeviceTrace& add(trace::LaneId lane, std::string_view domain, const std::string& name,
                     std::int64_t begin, std::int64_t end) {
        m_builder.addEvent({lane,
                            m_builder.intern(name),
                            m_builder.intern(domain),
                            trace::EventKind::Range,
                            trace::EventFlag::None,
                            {{begin}, {end}}},
                           domain == categories::kCopy ? m_arguments : std::string());
        return *this;
    }
    trace::LaneId laneOf(std::int64_t stream) {
        const auto [known, isNew] = m_streams.try_emplace(stream);
        if (isNew)
            known->second = m_builder.addLane({m_rank, trace::LaneKind::DeviceStream, stream, ""});
        return known->second;
    }

    trace::TraceBuilder m_builder;
    trace::RankId m_rank;
    trace::LaneId m_host;
    std::map<std::int64_t, trace::LaneId> m_streams;
    std::string m_arguments;  // of copies
};

}  // namespace pleat::testing
