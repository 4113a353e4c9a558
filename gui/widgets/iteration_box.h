// Which iteration the pipeline, the critical path and the facts speak of, to be seen and chosen:
// one box, the same on every page. It offers the numbers that the trace's iterations have, no
// others.
#pragma once

#include <QPointer>
#include <QSpinBox>
#include <cstdint>
#include <vector>

#include "models/iteration_model.h"

namespace pleat::widgets {

class IterationBox : public QSpinBox {
    Q_OBJECT

  public:
    IterationBox(models::IterationModel& iteration, QWidget* parent);

    void stepBy(int steps) override;  // to the next number there is

  signals:
    // By a person; the model has been told.
    void chosen(int iteration);

  protected:
    [[nodiscard]] QValidator::State validate(QString& text, int& position) const override;
    void fixup(QString& text) const override;  // the nearest number there is
    void mouseReleaseEvent(QMouseEvent* event) override;

  private:
    void update();

    // A window's widgets lose their focus when its models are gone already: numbers are kept here.
    QPointer<models::IterationModel> m_iteration;
    std::vector<std::int32_t> m_numbers;  // ascending
};

}  // namespace pleat::widgets
