#include "report/rank_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/rank_shape.h"
#include "base/say.h"
#include "report/units.h"

namespace pleat::report {
namespace {

using analysis::RankGroup;
using analysis::RankSummary;

std::string known(std::int32_t value) { return value < 0 ? "-" : fmt::format("{}", value); }

// A bar of kTextWidth's rest: compute '#', moving '=', waiting '~', copy '+', bubble '.'.
std::string stackedBar(const std::vector<std::int32_t>& tenths) {
    constexpr std::string_view kMarks = "#=~+.";
    constexpr std::int32_t kCells = 20;
    std::string bar;
    std::int32_t running = 0;
    for (std::size_t i = 0; i < tenths.size(); ++i) {
        running += tenths[i];
        const auto until = static_cast<std::size_t>((running * kCells + 500) / 1000);
        if (until > bar.size()) bar.append(until - bar.size(), kMarks[i]);
    }
    return bar;
}

// `first` says whose row it is. Where that is long there is no room for a bar.
std::string renderRow(std::string_view first, const RankSummary& rank, bool withCopy,
                      bool withBar) {
    const auto& parts = rank.time.parts.of;
    const std::vector<std::int32_t> tenths = tenthsOfPercent(parts);
    std::string line(first);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (analysis::kTimeParts[i] == analysis::TimePart::Copy && !withCopy) continue;
        line +=
            fmt::format(" {:>3}.{}%{:>9}", tenths[i] / 10, tenths[i] % 10, milliseconds(parts[i]));
    }
    return withBar ? fmt::format("{} |{}|\n", line, stackedBar(tenths)) : line + "\n";
}

std::string headOfRows(std::string_view first, bool withCopy) {
    return fmt::format("{} {:>15} {:>15} {:>15}{} {:>15}\n", first, "compute #",
                       "moving =", "waiting ~", withCopy ? fmt::format(" {:>15}", "copy +") : "",
                       "bubble .");
}

// `withDevice` where a process worked on several, each of which has a row.
std::string placeOf(const RankSummary& rank, bool withDevice) {
    return fmt::format("{:>4} {:>2} {:>2}", rank.number, known(rank.coordinates.dp),
                       known(rank.coordinates.pp)) +
           (withDevice ? fmt::format(" {:<8}", base::printable(rank.device)) : "");
}

// "12.3 % more"
std::string comparedBy(double ratio) {
    return fmt::format("{} {}", percent(std::abs(ratio - 1)), ratio > 1 ? "more" : "less");
}

// The groups of one coordinate: those that stand out, else that none does.
std::string renderGroups(std::string_view name, const std::vector<RankGroup>& groups,
                         bool withCopy) {
    constexpr std::size_t kMostRows = 8;
    if (groups.empty()) return {};
    std::vector<const RankGroup*> rows;
    double least = 1, most = 1;
    for (const RankGroup& group : groups) {
        if (group.standsOut) rows.push_back(&group);
        least = std::min(least, group.ratio);
        most = std::max(most, group.ratio);
    }
    if (rows.empty())
        return fmt::format("{} 0 to {}: similar, compute {:.2f} to {:.2f} x their median\n", name,
                           groups.back().coordinate, least, most);
    std::stable_sort(rows.begin(), rows.end(), [](const RankGroup* a, const RankGroup* b) {
        return std::abs(a->ratio - 1) > std::abs(b->ratio - 1);
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
        const std::string title = fmt::format("{} {}", name, rows[i]->coordinate);
        text +=
            renderRow(fmt::format("{:<8} {:>10}", title, fmt::format("{:.2f} x", rows[i]->ratio)),
                      rows[i]->mean, withCopy, false);
    }
    if (rows.size() > kMostRows)
        text += fmt::format("  and {} more with smaller differences\n", rows.size() - kMostRows);
    return text;
}

std::string renderOutliers(const std::vector<RankSummary>& ranks,
                           const std::vector<analysis::RankOutlier>& outliers) {
    constexpr std::size_t kMostNamed = 10;
    if (outliers.empty())
        return wrapped("", fmt::format("No rank's compute time differs by {} or more from the "
                                       "median of its pipeline rank",
                                       percent(analysis::kStandsOut)));
    std::string text;
    for (std::size_t i = 0; i < std::min(outliers.size(), kMostNamed); ++i) {
        text += fmt::format("{}rank {} {}", text.empty() ? "" : ", ",
                            ranks[outliers[i].index].number, comparedBy(outliers[i].ratio));
    }
    if (outliers.size() > kMostNamed)
        text += fmt::format(", and {} more ranks", outliers.size() - kMostNamed);
    return wrapped("Outliers (compute time against the median of their pipeline rank): ", text);
}

std::string renderShape(const std::vector<RankSummary>& ranks, bool withCopy, bool withDevice) {
    const analysis::RankShape shape = analysis::shapeOf(ranks);
    std::string text =
        headOfRows(fmt::format("         rank dp pp{}", withDevice ? " device  " : ""), withCopy);
    for (const auto& [title, index] :
         {std::pair("slowest", shape.slowest), std::pair("median", shape.median),
          std::pair("fastest", shape.fastest)})
        text += renderRow(fmt::format("{:<8} {}", title, placeOf(ranks[index], withDevice)),
                          ranks[index], withCopy, false);
    return text + renderGroups("pp", shape.byPp, withCopy) +
           renderGroups("dp", shape.byDp, withCopy) + renderOutliers(ranks, shape.outliers);
}

}  // namespace

std::string renderRanks(const std::vector<RankSummary>& ranks, bool allRanks) {
    const auto any = [&](auto condition) {
        return std::any_of(ranks.begin(), ranks.end(), condition);
    };
    const bool withCopy =
        any([](const RankSummary& rank) { return rank.time[analysis::TimePart::Copy].ns > 0; });
    const bool withDevice = any([](const RankSummary& rank) { return rank.oneOfSeveralDevices; });
    std::string text =
        "\nWhere each rank's time went (share and ms of the mean iteration; sums to 100 %)\n";
    if (ranks.size() >= analysis::kManyRanks && !allRanks) {
        text += fmt::format("{} ranks, ordered by compute time; --all-ranks prints every rank\n",
                            ranks.size());
        return text + renderShape(ranks, withCopy, withDevice);
    }
    text += headOfRows(fmt::format("rank dp pp{}", withDevice ? " device  " : ""), withCopy);
    for (const RankSummary& rank : ranks)
        text += renderRow(placeOf(rank, withDevice), rank, withCopy, true);
    return text;
}

}  // namespace pleat::report
