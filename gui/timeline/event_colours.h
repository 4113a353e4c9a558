// EventColours: for one way of colouring, the palette index of every event (one byte each), and the
// legend. Made once per way; drawing looks up. Device work takes the colour of the task whose host
// range called it, as analyses count it (communication kernels apart, which lie under many tasks).
// Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/palette.h"
#include "timeline/worker_pool.h"
#include "trace/trace.h"

namespace pleat::timeline {

enum class ColourMode : std::uint8_t { Kind, Microbatch, Stage, Dimension, Name };

[[nodiscard]] std::string_view toString(ColourMode mode);  // kind microbatch stage dimension name

struct LegendEntry {
    std::uint8_t colour = 0;  // index into Palette::events
    std::string text;
    friend bool operator==(const LegendEntry&, const LegendEntry&) = default;
};

// All that the legend of ColourMode::Kind can hold.
[[nodiscard]] std::vector<LegendEntry> allKinds();

class EventColours {
  public:
    EventColours(const trace::Trace& trace, ColourMode mode, WorkerPool& pool);

    [[nodiscard]] std::uint8_t operator[](trace::EventId event) const {
        return m_colours[event.index()];
    }
    // Asks for memory that will be used soon.
    void fetch(trace::EventId event) const { __builtin_prefetch(&m_colours[event.index()]); }
    [[nodiscard]] ColourMode mode() const { return m_mode; }
    // What the colours in use mean, by ascending number or by kind; nothing for names, whose
    // colours repeat.
    [[nodiscard]] const std::vector<LegendEntry>& legend() const { return m_legend; }

  private:
    ColourMode m_mode;
    std::vector<std::uint8_t> m_colours;
    std::vector<LegendEntry> m_legend;
};

}  // namespace pleat::timeline
