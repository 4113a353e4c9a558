// Steps from one event to another on its lane, for the keyboard. Pure functions; safe from any
// thread.
#pragma once

#include "timeline/event_colours.h"

namespace pleat::timeline {

enum class Direction : std::uint8_t { Backward, Forward };

// The nearest event before or behind `from` on its lane that has its name; invalid without one.
// O(events between).
[[nodiscard]] trace::EventId stepBySameName(const trace::Trace& trace, trace::EventId from,
                                            Direction direction);
// The same for its colour: with ColourMode::Kind, the next of its kind.
[[nodiscard]] trace::EventId stepBySameColour(const trace::Trace& trace,
                                              const EventColours& colours, trace::EventId from,
                                              Direction direction);

}  // namespace pleat::timeline
