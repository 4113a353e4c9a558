// The newest answer of work in the background (background.h): what it found, or why it could not.
// Nothing while it is awaited. What is found is immutable and shared. One thread, that of the
// object it belongs to.
#pragma once

#include <QString>
#include <memory>
#include <utility>

#include "models/background.h"

namespace pleat::models {

// What a piece of work came to: one of the two.
template <class Results>
struct Answer {
    std::shared_ptr<const Results> results;
    QString problem;
};

template <class Results>
class BackgroundAnswer {
  public:
    // Forgets the answer there was. work(std::stop_token) gives an Answer; once it is here,
    // changed() is called.
    template <class Work, class Changed>
    void start(Work work, Changed changed) {
        clear();
        m_background.start(std::move(work),
                           [this, changed = std::move(changed)](Answer<Results> answer) {
                               m_answer = std::move(answer);
                               changed();
                           });
    }
    void clear() {
        m_background.stop();
        m_answer = {};
    }

    [[nodiscard]] const std::shared_ptr<const Results>& results() const { return m_answer.results; }
    [[nodiscard]] const QString& problem() const { return m_answer.problem; }
    [[nodiscard]] bool working() const { return m_background.running(); }

  private:
    Answer<Results> m_answer;
    Background m_background;  // last: it waits for its work, which may use what is above
};

}  // namespace pleat::models
