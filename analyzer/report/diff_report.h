// What changed between two runs, for a person: the first sentence answers whether it got better and
// why, the rest shows it. As text of kTextWidth columns, and as Markdown for a comment on a change.
// Lists what changed and counts the rest; JSON (json_report.h) has every row. What both are made of
// is there for the viewer too. Renders only. Pure.
#pragma once

#include <string>

#include "analysis/compare.h"

namespace pleat::report {

[[nodiscard]] std::string renderText(const analysis::Comparison& comparison);
[[nodiscard]] std::string renderMarkdown(const analysis::Comparison& comparison);

// The answer alone, unbroken: whether NEW is faster than BASE and, as far as can be told, why.
[[nodiscard]] std::string renderAnswer(const analysis::Comparison& comparison);

// The figures of a row, times in ms without the unit; "-" for what the row does not have. The name
// is as the trace has it.
struct RowText {
    std::string name, verdict, base, other, difference, change, interval;
};
[[nodiscard]] RowText rowText(const analysis::ComparedSeries& row);

}  // namespace pleat::report
