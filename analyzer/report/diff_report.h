// What changed between two runs, for a person: the first sentence answers whether it got better and
// why, the rest shows it. As text of kTextWidth columns, and as Markdown for a comment on a change.
// Lists what changed and counts the rest; JSON (json_report.h) has every row. Renders only. Pure.
#pragma once

#include <string>

#include "analysis/compare.h"

namespace pleat::report {

[[nodiscard]] std::string renderText(const analysis::Comparison& comparison);
[[nodiscard]] std::string renderMarkdown(const analysis::Comparison& comparison);

}  // namespace pleat::report
