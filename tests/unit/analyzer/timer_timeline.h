// Small timelines of coarse timers, written down by hand: two pipeline ranks, times in us.
#pragma once

#include <fmt/format.h>

#include <string>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::testing {

class TimerTimelineText {
  public:
    TimerTimelineText& add(int stage, const char* name, int sequence, double start, double duration,
                           int step = 0, int dp = 0) {
        m_events += fmt::format(
            R"(,{{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"step":{},"model_chunk":{},"mb_id":{},"seq_id":{}}}}})",
            name, dp, stage, start, duration, step, m_chunk, sequence, sequence);
        return *this;
    }
    // Of the events that follow.
    TimerTimelineText& chunk(int chunk) {
        m_chunk = chunk;
        return *this;
    }
    [[nodiscard]] std::string text() const {
        std::string names;
        for (int dp = 0; dp < 2; ++dp) {
            for (int stage = 0; stage < 2; ++stage) {
                names += fmt::format(
                    R"({}{{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"PP rank {}, TP rank 0, compute"}}}})",
                    names.empty() ? "" : ",", dp, stage, stage);
            }
        }
        return "[" + names + m_events + "]";
    }
    [[nodiscard]] trace::Trace trace() const {
        return *annotate::annotate(*importers::importText(text()));
    }

  private:
    std::string m_events;
    int m_chunk = 0;
};

// Forward 10, backward 20, messages 1, all-gather 5, clip 2, optimizer 5. As the rules have it, the
// step takes 104; the last backward of stage 0 was launched 10 late, so it took 114.
[[nodiscard]] inline TimerTimelineText twoStageStep() {
    TimerTimelineText text;
    text.add(0, "params-all-gather", 0, 0, 5).add(1, "params-all-gather", 0, 0, 5);
    text.add(0, "forward-compute", 0, 5, 10).add(0, "forward-compute", 1, 15, 10);
    text.add(0, "backward-compute", 0, 47, 20).add(0, "backward-compute", 1, 87, 20);
    text.add(1, "forward-compute", 0, 16, 10).add(1, "backward-compute", 0, 26, 20);
    text.add(1, "forward-compute", 1, 46, 10).add(1, "backward-compute", 1, 56, 20);
    // A receive is posted before its message comes: only what follows the send moves data.
    text.add(0, "forward-send", 0, 15, 1).add(1, "forward-recv", 0, 3, 13);
    text.add(0, "forward-send", 1, 26, 1).add(1, "forward-recv", 1, 26, 1);
    text.add(1, "backward-send", 0, 46, 1).add(0, "backward-recv", 0, 46, 1);
    text.add(1, "backward-send", 1, 76, 1).add(0, "backward-recv", 1, 76, 1);
    text.add(0, "optimizer-clip-main-grad", 0, 107, 2);
    text.add(1, "optimizer-clip-main-grad", 0, 77, 32);
    text.add(0, "optimizer", 0, 109, 5).add(1, "optimizer", 0, 109, 5);
    return text;
}

}  // namespace pleat::testing
