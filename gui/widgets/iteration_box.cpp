#include "widgets/iteration_box.h"

#include <algorithm>
#include <cstdlib>

namespace pleat::widgets {

IterationBox::IterationBox(models::IterationModel& iteration, QWidget* parent)
    : QSpinBox(parent), m_iteration(&iteration) {
    setAccessibleName(tr("Iteration"));
    setKeyboardTracking(false);
    connect(this, &QSpinBox::valueChanged, this, [this](int number) {
        if (m_iteration) m_iteration->choose(number);
        emit chosen(number);
    });
    connect(&iteration, &models::IterationModel::changed, this, &IterationBox::update);
    update();
}

void IterationBox::stepBy(int steps) {
    if (m_numbers.empty()) return;
    const auto at =
        std::lower_bound(m_numbers.begin(), m_numbers.end(), value()) - m_numbers.begin();
    const auto last = static_cast<std::ptrdiff_t>(m_numbers.size()) - 1;
    setValue(m_numbers[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + steps, 0, last))]);
    selectAll();
}

// On its arrows: who clicks through iterations looks at the picture, and its keys are meant.
void IterationBox::mouseReleaseEvent(QMouseEvent* event) {
    QSpinBox::mouseReleaseEvent(event);
    if (parentWidget() != nullptr) parentWidget()->setFocus();
}

QValidator::State IterationBox::validate(QString& text, int& position) const {
    const QValidator::State state = QSpinBox::validate(text, position);
    if (state != QValidator::Acceptable) return state;
    const bool exists = std::binary_search(m_numbers.begin(), m_numbers.end(), valueFromText(text));
    return exists ? QValidator::Acceptable : QValidator::Intermediate;
}

void IterationBox::fixup(QString& text) const {
    if (m_numbers.empty()) return;
    const int typed = valueFromText(text);
    const auto nearest = std::min_element(m_numbers.begin(), m_numbers.end(), [&](int a, int b) {
        return std::abs(a - typed) < std::abs(b - typed);
    });
    text = textFromValue(*nearest);
}

void IterationBox::update() {
    m_numbers = m_iteration->numbers();
    const QSignalBlocker quiet(this);
    setEnabled(!m_numbers.empty());
    if (m_numbers.empty()) return;
    setRange(m_numbers.front(), m_numbers.back());
    if (const auto results = m_iteration->results()) setValue(results->analysis.window.iteration);
}

}  // namespace pleat::widgets
