#include "report/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/say.h"
#include "report/headline.h"
#include "report/text_report.h"
#include "report/units.h"

namespace pleat::report {
namespace {

using analysis::ComparedSeries;
using analysis::Comparison;
using analysis::Level;
using analysis::MeanPart;
using analysis::Unit;
using analysis::Verdict;

constexpr std::size_t kMostRows = 5;    // of a level
constexpr std::size_t kMostNames = 12;  // of what one run has alone
constexpr std::size_t kNameWidth = 29;  // of a row's name beside its figures
constexpr std::size_t kLongName = 90;

constexpr std::array<std::string_view, analysis::kLevelCount> kTitles = {
    "Iteration",
    "Parts of the iteration, mean of all ranks",
    "Bubble by cause, mean of all ranks",
    "Ranks",
    "Stages, mean time of a task",
    "Microbatches, mean time of a task",
    "Communication, mean of all ranks",
    "Device work by name, mean of all ranks"};

std::string value(double number, Unit unit) {
    if (unit == Unit::Nanoseconds) return milliseconds({std::llround(number)});
    return unit == Unit::Fraction ? percent(number) : fmt::format("{:.2f}", number);
}

std::string withSign(double number, Unit unit) {
    const std::string text = value(number, unit);
    return text.starts_with('-') ? text : "+" + text;
}

std::string withSign(base::Duration time) {
    return withSign(static_cast<double>(time.ns), Unit::Nanoseconds);
}

// "+12.3 %", from a ratio; from ten times on "12.3 x"; "-" where the base is zero.
std::string change(const std::optional<double>& ratio) {
    constexpr double kManifold = 10;
    if (!ratio) return "-";
    return *ratio < kManifold ? withSign(*ratio - 1, Unit::Fraction)
                              : fmt::format("{:.1f} x", *ratio);
}

std::string between(const ComparedSeries& row) {
    if (!row.ci95) return "-";
    return fmt::format("{} to {}", withSign(row.ci95->first, row.unit),
                       withSign(row.ci95->second, row.unit));
}

std::string nameOf(const ComparedSeries& row) {
    const bool plain = row.key.quantity == "time";
    return plain ? row.key.subject : row.key.subject + " " + row.key.quantity;
}

std::string nameOf(const MeanPart& part) { return (part.ofBubble ? "bubble: " : "") + part.name; }

std::string plural(std::size_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

// "BASE has 1 iteration and NEW 4; 5 on each side is the least".
std::string tooFew(const Comparison& comparison) {
    return fmt::format("BASE has {} and NEW {}, and {} of each are the least that can tell",
                       plural(comparison.base.iterations.indices.size(), "iteration"),
                       comparison.other.iterations.indices.size(), analysis::kFewestValues);
}

std::string medians(const ComparedSeries& row) {
    return fmt::format("{} -> {} ms in the median", value(*row.base, row.unit),
                       value(*row.other, row.unit));
}

// A difference means less where the two did not run alike.
std::string newRun(const Comparison& comparison) {
    const auto said = [&](std::string_view code) {
        return comparison.diagnostics.find(code) != nullptr;
    };
    if (said("tasks_in_one_only") || said("devices_in_one_only"))
        return "NEW, of which other things were recorded,";
    if (said("layout_differs")) return "NEW, on other ranks,";
    return said("schedule_differs") ? "NEW, under another schedule," : "NEW";
}

std::string answer(const Comparison& comparison) {
    const ComparedSeries& row = comparison.iteration;
    const std::string changed =
        fmt::format("{} ({}), {}", withSign(*row.difference, row.unit) + " ms", change(row.ratio),
                    medians(row));
    const std::string interval = fmt::format("95 % interval {} ms", between(row));
    if (comparison.identical()) {
        return fmt::format(
            "BASE and NEW are the same in every figure, {} ms in the median: one run twice?",
            value(*row.base, row.unit));
    }
    switch (row.verdict) {
        case Verdict::Slower:
        case Verdict::Faster:
            return fmt::format("{} is {}: {}, {}.", newRun(comparison), toString(row.verdict),
                               changed, interval);
        case Verdict::Same:
            return fmt::format("{} is as fast as BASE: {}, {}, which is within {}.",
                               newRun(comparison), changed, interval,
                               percent(analysis::kSameShare));
        default:
            break;
    }
    if (!row.ci95) {
        return fmt::format("Cannot tell whether {} is faster: {}. As measured: {}.",
                           newRun(comparison), tooFew(comparison), changed);
    }
    return fmt::format(
        "Cannot tell whether {} is faster: {}, but the {} holds both zero and more than {}; "
        "record more iterations.",
        newRun(comparison), changed, interval, percent(analysis::kSameShare));
}

// Why, as far as the means and the rows say it; empty where nothing moved, or only noise did.
std::string reasons(const Comparison& comparison) {
    if (comparison.iteration.ci95 && !isChange(comparison.iteration.verdict)) return {};
    std::string text;
    for (const std::size_t reason : comparison.reasons) {
        const MeanPart& part = comparison.parts[reason];
        text += fmt::format("{}{} {} ms", text.empty() ? "" : ", ", nameOf(part),
                            withSign(part.difference()));
    }
    if (text.empty()) return text;
    text =
        fmt::format(" The mean changed by {} ms: {}", withSign(comparison.mean.difference()), text);
    if (comparison.against) {
        const MeanPart& part = comparison.parts[*comparison.against];
        text += fmt::format(", against {} {} ms", nameOf(part), withSign(part.difference()));
    }
    text += ".";
    if (comparison.mostChanged) {
        const ComparedSeries& most = comparison.rows[*comparison.mostChanged];
        text += fmt::format(" {} most: {} {} ms ({}).",
                            most.verdict == Verdict::Slower ? "Slowed" : "Sped up",
                            base::printable(nameOf(most), kLongName),
                            withSign(*most.difference, most.unit), change(most.ratio));
    }
    return text;
}

std::string describe(const analysis::RunSummary& run) {
    const auto& indices = run.iterations.indices;
    std::string text =
        fmt::format("{} ({} to {}), {}, {}", plural(indices.size(), "iteration"), indices.front(),
                    indices.back(), plural(run.ranks, "rank"),
                    run.schedule ? describeSchedule(*run.schedule) : "no pipeline tasks named");
    if (run.iterations.warmUp > 0) {
        const std::size_t count = run.iterations.warmUp;
        text +=
            fmt::format("; the first{} took {:.1f} x the median: warm-up?",
                        count == 1 ? "" : fmt::format(" {}", count), run.iterations.warmUpRatio);
    }
    return text;
}

std::string counts(const Comparison& comparison) {
    std::string text = fmt::format(
        "{} compared: {} changed, {} the same, {} cannot tell.", plural(comparison.inBoth(), "row"),
        comparison.changed(), comparison.of(Verdict::Same), comparison.of(Verdict::CannotTell));
    if (comparison.byChance() > 0) {
        text += fmt::format(" Of intervals of 95 %, about {} miss zero by chance alone.",
                            comparison.byChance());
    }
    return text + " --format json has every row.";
}

std::vector<const MeanPart*> partsThere(const Comparison& comparison) {
    std::vector<const MeanPart*> parts;
    for (const MeanPart& part : comparison.parts) {
        if (part.base.ns != 0 || part.other.ns != 0) parts.push_back(&part);
    }
    parts.push_back(&comparison.mean);
    return parts;
}

std::vector<const ComparedSeries*> changedOf(const Comparison& comparison, Level level) {
    std::vector<const ComparedSeries*> rows;
    for (const ComparedSeries& row : comparison.rows) {
        if (row.key.level == level && isChange(row.verdict)) rows.push_back(&row);
    }
    return rows;
}

// What one run has alone, apart from kernels. Where it has all of a subject alone, the subject
// once. "a, b and 3 more"; empty where there is none.
std::string namesOf(const Comparison& comparison, Verdict side) {
    std::set<std::pair<Level, std::string>> inBoth, seen;
    for (const ComparedSeries& row : comparison.rows) {
        if (row.difference) inBoth.insert({row.key.level, row.key.subject});
    }
    std::string text;
    for (const ComparedSeries& row : comparison.rows) {
        if (row.verdict != side || row.key.level == Level::Kernel) continue;
        const bool whole = !inBoth.contains({row.key.level, row.key.subject});
        const std::string name = whole ? row.key.subject : nameOf(row);
        if (!seen.insert({row.key.level, name}).second || seen.size() > kMostNames) continue;
        text += (text.empty() ? "" : ", ") + base::printable(name, kLongName);
    }
    if (seen.size() > kMostNames) text += fmt::format(" and {} more", seen.size() - kMostNames);
    return text;
}

// Kernels that one run has alone, the longest first, a line each.
std::vector<std::string> kernelsOf(const Comparison& comparison, Verdict side) {
    std::vector<std::string> lines;
    std::size_t more = 0;
    for (const ComparedSeries& row : comparison.rows) {
        if (row.verdict != side || row.key.level != Level::Kernel || row.unit != Unit::Nanoseconds)
            continue;
        if (lines.size() == kMostRows) {
            ++more;
            continue;
        }
        lines.push_back(fmt::format("{} ms {}", value(row.base ? *row.base : *row.other, row.unit),
                                    base::printable(row.key.subject, kLongName - 12)));
    }
    if (more > 0) lines.push_back(fmt::format("and {} shorter ones", more));
    return lines;
}

std::string_view wordOf(Verdict side) {
    return side == Verdict::OnlyInBase ? "Only in BASE" : "Only in NEW";
}

std::string renderAlone(const Comparison& comparison, Verdict side) {
    const std::string names = namesOf(comparison, side);
    std::string text =
        names.empty() ? names : "\n" + wrapped(fmt::format("{}: ", wordOf(side)), names);
    const auto kernels = kernelsOf(comparison, side);
    if (!kernels.empty())
        text += fmt::format("\n{}, of device work (mean of all ranks)\n", wordOf(side));
    for (const std::string& line : kernels) text += "  " + line + "\n";
    return text;
}

std::string renderMean(const Comparison& comparison) {
    std::string text = fmt::format(
        "\nWhere the mean iteration changed (ms, mean of all ranks; parts sum to the iteration)\n"
        "{:<30} {:>12} {:>12} {:>12}\n",
        "part", "BASE", "NEW", "difference");
    for (const MeanPart* part : partsThere(comparison)) {
        text +=
            fmt::format("{:<30} {:>12} {:>12} {:>12}\n", nameOf(*part), milliseconds(part->base),
                        milliseconds(part->other), withSign(part->difference()));
    }
    return text;
}

std::string renderRow(const ComparedSeries& row) {
    const RowText text = rowText(row);
    const bool fits = text.name.size() <= kNameWidth;
    return fmt::format("  {:<6} {:>10} {:>10} {:>10} {:>8} {:>22}{}{}\n", text.verdict, text.base,
                       text.other, text.difference, text.change, text.interval,
                       fits ? "  " : "\n         ", base::printable(text.name, kLongName));
}

std::string renderRows(const Comparison& comparison) {
    if (comparison.changed() == 0) return {};
    std::string text = fmt::format(
        "\nWhat changed (medians of the iterations, times in ms, 95 % interval of the "
        "difference)\n  {:<6} {:>10} {:>10} {:>10} {:>8} {:>22}\n",
        "", "BASE", "NEW", "difference", "", "interval");
    for (std::size_t level = 0; level < analysis::kLevelCount; ++level) {
        const auto rows = changedOf(comparison, static_cast<Level>(level));
        if (rows.empty()) continue;
        text += fmt::format("{}\n", kTitles[level]);
        for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i)
            text += renderRow(*rows[i]);
        if (rows.size() > kMostRows)
            text += fmt::format("  and {} that changed less\n", rows.size() - kMostRows);
    }
    return text;
}

// Names of kernels hold what Markdown takes for markup.
std::string escaped(std::string_view plain) {
    std::string text;
    for (const char c : plain) {
        if (std::string_view("|<*_`\\").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text;
}

std::string markdownRow(const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + escaped(cell) + " |";
    return text + "\n";
}

std::string markdownAlone(const Comparison& comparison, Verdict side) {
    const std::string names = namesOf(comparison, side);
    const auto kernels = kernelsOf(comparison, side);
    if (names.empty() && kernels.empty()) return {};
    std::string text = fmt::format("\n{}\n\n", wordOf(side));
    if (!names.empty()) text += "- " + escaped(names) + "\n";
    for (const std::string& line : kernels) text += "- " + escaped(line) + "\n";
    return text;
}

std::string markdownDiagnostics(std::string_view run, const base::Diagnostics& diagnostics) {
    std::string text;
    for (const base::Diagnostic& entry : diagnostics.entries()) {
        text += markdownRow({std::string(run), std::string(toString(entry.severity)), entry.code,
                             fmt::format("{}", entry.count), base::printable(entry.example, 600)});
    }
    return text;
}

std::string markdownMean(const Comparison& comparison) {
    std::string text =
        "\n## Where the mean iteration changed\n\nMean of all ranks in ms; parts sum to the "
        "iteration.\n\n| part | BASE | NEW | difference |\n|---|---:|---:|---:|\n";
    for (const MeanPart* part : partsThere(comparison)) {
        text += markdownRow({nameOf(*part), milliseconds(part->base), milliseconds(part->other),
                             withSign(part->difference())});
    }
    return text;
}

std::string markdownRows(const Comparison& comparison) {
    if (comparison.changed() == 0) return {};
    std::string text =
        "\n## What changed\n\nMedians of the iterations, times in ms.\n\n"
        "| level | what | verdict | BASE | NEW | difference | change | 95 % interval |\n"
        "|---|---|---|---:|---:|---:|---:|---:|\n";
    for (std::size_t level = 0; level < analysis::kLevelCount; ++level) {
        const auto rows = changedOf(comparison, static_cast<Level>(level));
        for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
            const RowText row = rowText(*rows[i]);
            text += markdownRow({std::string(toString(rows[i]->key.level)),
                                 base::printable(row.name, kLongName), row.verdict, row.base,
                                 row.other, row.difference, row.change, row.interval});
        }
        if (rows.size() > kMostRows) {
            text += markdownRow({std::string(toString(static_cast<Level>(level))),
                                 fmt::format("and {} that changed less", rows.size() - kMostRows),
                                 "", "", "", "", "", ""});
        }
    }
    return text;
}

}  // namespace

RowText rowText(const ComparedSeries& row) {
    const auto known = [&](const std::optional<double>& number) {
        return number ? value(*number, row.unit) : "-";
    };
    std::string verdict(toString(row.verdict));
    std::replace(verdict.begin(), verdict.end(), '_', ' ');
    return {nameOf(row),
            verdict,
            known(row.base),
            known(row.other),
            row.difference ? withSign(*row.difference, row.unit) : "-",
            change(row.ratio),
            between(row)};
}

std::string renderAnswer(const Comparison& comparison) {
    return answer(comparison) + reasons(comparison);
}

std::string renderText(const Comparison& comparison) {
    std::string text = renderProblems(headlineOf(comparison).problems);
    text += wrapped("", renderAnswer(comparison)) + "\n";
    text += wrapped("BASE: ", describe(comparison.base));
    text += wrapped("NEW:  ", describe(comparison.other));
    text +=
        renderMean(comparison) + renderRows(comparison) + "\n" + wrapped("", counts(comparison));
    text +=
        renderAlone(comparison, Verdict::OnlyInBase) + renderAlone(comparison, Verdict::OnlyInNew);
    return text + renderDiagnostics(comparison.diagnostics, "both") +
           renderDiagnostics(comparison.base.diagnostics, "BASE") +
           renderDiagnostics(comparison.other.diagnostics, "NEW");
}

std::string renderMarkdown(const Comparison& comparison) {
    std::string text;
    for (const std::string& problem : headlineOf(comparison).problems)
        text += "> **Warning:** " + escaped(problem) + "\n>\n";
    if (!text.empty()) text += "\n";
    text += "**" + answer(comparison) + "**" + escaped(reasons(comparison)) + "\n\n";
    text += fmt::format("- BASE: {}\n- NEW: {}\n", describe(comparison.base),
                        describe(comparison.other));
    text += markdownMean(comparison) + markdownRows(comparison) + "\n" + counts(comparison) + "\n";
    text += markdownAlone(comparison, Verdict::OnlyInBase) +
            markdownAlone(comparison, Verdict::OnlyInNew);
    const std::string notes = markdownDiagnostics("both", comparison.diagnostics) +
                              markdownDiagnostics("BASE", comparison.base.diagnostics) +
                              markdownDiagnostics("NEW", comparison.other.diagnostics);
    if (notes.empty()) return text;
    return text +
           "\n## Notes on the data\n\n| run | severity | code | count | example |\n"
           "|---|---|---|---:|---|\n" +
           notes;
}

}  // namespace pleat::report
