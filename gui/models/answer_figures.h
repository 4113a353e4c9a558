// The answer to "where did the iteration go" as tables and bars, every figure with the place it
// speaks of: the same figures, in the same order, as the text report. Pure.
#pragma once

#include <QString>
#include <vector>

#include "base/time.h"
#include "models/figure_model.h"
#include "models/trace_session.h"

namespace pleat::models {

// Parts of a bar, in the order of the report: compute, moving, waiting, copy, then the bubble by
// cause (kFirstCause + analysis::BubbleCause); in English named as in the report.
inline constexpr std::size_t kFirstCause = static_cast<std::size_t>(analysis::TimePart::Bubble);
[[nodiscard]] std::size_t barPartCount();
[[nodiscard]] QString barPartName(std::size_t part);

struct BarSegment {
    std::size_t part = 0;
    base::Duration time;
    int tenths = 0;  // of a percent; of a bar they sum to 1000
    Place place;
};
struct Bar {
    QString title;
    std::vector<BarSegment> segments;  // none of them empty
};

// The complete iteration closest to the median, as a place; empty where there is none.
[[nodiscard]] Place typicalIteration(const RunResults& results);

// What is wrong with the data (report/headline.h), replay error, iteration time, schedule, bubble:
// a line each, first what says how far the rest can be trusted.
[[nodiscard]] QStringList headlines(const RunResults& results);
// One per rank.
[[nodiscard]] std::vector<Bar> rankBars(const RunResults& results);

[[nodiscard]] Figures rankFigures(const RunResults& results);
[[nodiscard]] Figures iterationFigures(const RunResults& results);
[[nodiscard]] Figures stragglerFigures(const RunResults& results);
[[nodiscard]] Figures causeFigures(const RunResults& results);
// A row leads to the longest transfer of its kind. O(transfers).
[[nodiscard]] Figures transferFigures(const RunResults& results, const trace::Trace& trace);
[[nodiscard]] Figures waitFigures(const RunResults& results);

}  // namespace pleat::models
