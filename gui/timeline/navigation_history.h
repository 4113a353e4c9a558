// Where one has looked before: undo and redo of viewports. Motion that goes on (a held key, a
// dragged mouse) is one step, whatever the number of frames it took. Not thread-safe: it belongs
// to the window that is navigated.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "timeline/viewport.h"

namespace pleat::timeline {

enum class Motion : std::uint8_t {
    Jump,       // a step of its own
    Continues,  // part of the motion before, if that was one too
};

class NavigationHistory {
  public:
    explicit NavigationHistory(const Viewport& first) : m_steps{{first, Motion::Jump}} {}

    // What is shown from now on; what was undone is forgotten.
    void record(const Viewport& viewport, Motion motion);
    // The motion ended: what continues from now on is another one.
    void endMotion();
    // The viewport to go to; empty where there is none.
    [[nodiscard]] std::optional<Viewport> undo();
    [[nodiscard]] std::optional<Viewport> redo();
    [[nodiscard]] const Viewport& current() const { return m_steps[m_at].viewport; }

    // Every step on another number of pixels, as far as it lies within the whole.
    void fit(base::Interval whole, std::int32_t width);
    // The same way, each step that much later: of a picture that moves together with this one.
    [[nodiscard]] NavigationHistory shifted(base::Duration by) const;

  private:
    struct Step {
        Viewport viewport;
        Motion motion;
    };
    std::vector<Step> m_steps;  // never empty
    std::size_t m_at = 0;
};

}  // namespace pleat::timeline
