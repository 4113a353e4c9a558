// What differs between the runs of two sessions: compared in the background as soon as both are
// there, and again when either is read again. What is handed out is immutable and shared. One
// thread, the window's.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "analysis/compare.h"
#include "models/background_answer.h"
#include "models/trace_session.h"

namespace pleat::models {

class ComparisonModel : public QObject {
    Q_OBJECT

  public:
    ComparisonModel(const TraceSession& base, const TraceSession& other, QObject* parent = nullptr);

    // Null while they are being compared, and where they cannot be: problem() then says why.
    [[nodiscard]] std::shared_ptr<const analysis::Comparison> results() const {
        return m_answer.results();
    }
    [[nodiscard]] const QString& problem() const { return m_answer.problem(); }
    [[nodiscard]] bool working() const { return m_answer.working(); }

  signals:
    void changed();

  private:
    void compare();

    const TraceSession& m_base;
    const TraceSession& m_other;
    BackgroundAnswer<analysis::Comparison> m_answer;
};

}  // namespace pleat::models
