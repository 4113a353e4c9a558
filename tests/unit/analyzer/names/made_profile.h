// Small traces of several processes, written as Chrome JSON: for tests of what names mean.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::testing {

class MadeProfile {
  public:
    // Times in microseconds.
    MadeProfile& range(int pid, const std::string& name, double start, double duration,
                       const std::string& category = "user_annotation",
                       const std::string& arguments = "{}") {
        return add(fmt::format(
            R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
            category, name, pid, pid, start, duration, arguments));
    }
    MadeProfile& half(int pid, const std::string& name, char phase, double at,
                      const std::string& arguments = "{}") {
        return add(fmt::format(R"({{"ph":"{}","name":"{}","pid":{},"tid":{},"ts":{},"args":{}}})",
                               phase, name, pid, pid, at, arguments));
    }
    MadeProfile& instant(int pid, const std::string& name, double at,
                         const std::string& arguments = "{}") {
        return half(pid, name, 'i', at, arguments);
    }
    // The process says which rank it is.
    MadeProfile& rank(int pid, int number) {
        return add(fmt::format(
            R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}"}}}})", pid,
            number));
    }
    // A host call at `called` starts a kernel that lasts from `start`.
    MadeProfile& launch(int pid, double called, double start, double duration,
                        const std::string& kernel = "gemm", const std::string& more = "") {
        ++m_correlation;
        add(fmt::format(
            R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{},"tid":{},"ts":{},"dur":1,"args":{{"correlation":{}}}}})",
            pid, pid, called, m_correlation));
        return add(fmt::format(
            R"({{"ph":"X","cat":"kernel","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"correlation":{}{}}}}})",
            kernel, pid, 700 + pid, start, duration, m_correlation, more));
    }
    MadeProfile& add(std::string event) {
        m_events.push_back(std::move(event));
        return *this;
    }
    [[nodiscard]] trace::Trace imported() const {
        auto trace = importers::importText(fmt::format("[{}]", fmt::join(m_events, ",")));
        EXPECT_TRUE(trace) << importers::messageOf(trace);
        return std::move(*trace);
    }
    [[nodiscard]] trace::Trace annotated(const std::string& rules = "") const {
        if (rules.empty()) return annotate::annotate(imported()).value();
        const auto parsed = annotate::Rules::parse(rules, "rules.json");
        EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
        return annotate::annotate(imported(), *parsed).value();
    }

  private:
    std::vector<std::string> m_events;
    int m_correlation = 0;
};

// "r1 it0 2F0 10..20", in order of the trace, in microseconds.
[[nodiscard]] inline std::vector<std::string> taskLines(const trace::Trace& trace) {
    std::vector<std::string> lines;
    for (const trace::Task& task : trace.annotations().tasks) {
        lines.push_back(fmt::format("r{} it{} {}{}{} {}..{}", trace.ranks()[task.rank].number,
                                    task.iteration, task.stage, toString(task.kind),
                                    task.microbatch, task.span.begin.ns / 1'000,
                                    task.span.end.ns / 1'000));
    }
    return lines;
}

// "r0 it0 1SEND_F0 send pp", in order of the trace.
[[nodiscard]] inline std::vector<std::string> transferLines(const trace::Trace& trace) {
    std::vector<std::string> lines;
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        lines.push_back(fmt::format(
            "r{} it{} {}{}{} {} {}", trace.ranks()[transfer.rank].number, transfer.iteration,
            transfer.stage, transfer.action ? toString(*transfer.action) : "-", transfer.microbatch,
            toString(transfer.operation), toString(transfer.dimension)));
    }
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace pleat::testing
