#include "report/rank_path_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/headline.h"
#include "report/text_report.h"
#include "report/units.h"

namespace pleat::report {
namespace {

constexpr std::size_t kMostRows = 20;
constexpr std::size_t kMostOfName = 48;  // names of kernels are whole signatures

std::string shortened(const std::string& name) {
    if (name.size() <= kMostOfName) return name;
    std::size_t end = kMostOfName;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;
    return name.substr(0, end) + "...";
}

std::string where(const analysis::RankPathPiece& piece) {
    if (!piece.laneKind) return "-";
    return fmt::format(
        "{} {}", *piece.laneKind == trace::LaneKind::HostThread ? "thread" : "stream", piece.lane);
}

// A pause and a launch lie before what they are named after.
std::string titleOf(const analysis::RankPathPiece& piece) {
    if (piece.kind != "pause" && piece.kind != "launch") return shortened(piece.name);
    return piece.name.empty() ? "before the end" : "before " + shortened(piece.name);
}

std::string renderPieces(const analysis::RankPath& path) {
    std::string text = "\nThe longest pieces\n";
    text += fmt::format("{:>12} {:>12}  {:<15} {:<14} {}\n", "at ms", "length ms", "kind", "where",
                        "name");
    for (std::size_t i = 0; i < std::min(path.longest.size(), kMostRows); ++i) {
        const analysis::RankPathPiece& piece = path.pieces[path.longest[i]];
        text += fmt::format("{:>12} {:>12}  {:<15} {:<14} {}\n", milliseconds(piece.offset),
                            milliseconds(piece.length), piece.kind, where(piece), titleOf(piece));
    }
    if (path.longest.size() > kMostRows)
        text += fmt::format("  and {} more; --format json has them all, in order\n",
                            path.longest.size() - kMostRows);
    return text;
}

std::string renderWork(const std::vector<analysis::WorkSlack>& work) {
    std::string text =
        "\nDevice work with the least slack (how much longer each may take for free)\n";
    text += fmt::format("{:>12} {:>12} {:>12} {:>7}  {}\n", "slack ms", "at ms", "length ms",
                        "stream", "name");
    for (std::size_t i = 0; i < std::min(work.size(), kMostRows); ++i) {
        text += fmt::format("{:>12} {:>12} {:>12} {:>7}  {}\n", milliseconds(work[i].slack),
                            milliseconds(work[i].offset), milliseconds(work[i].duration),
                            work[i].stream, shortened(work[i].name));
    }
    if (work.size() > kMostRows)
        text += fmt::format("  and {} with as much or more\n", work.size() - kMostRows);
    return text;
}

}  // namespace

std::string renderText(const analysis::RankPath& path) {
    return renderProblems(headlineOf(path).problems) +
           fmt::format("Critical path of rank {} in iteration {}: {} ms, the whole iteration\n",
                       path.rank, path.iteration, milliseconds(path.length)) +
           renderKinds(path.byKind, path.length) + renderPieces(path) + renderWork(path.work) +
           renderDiagnostics(path.diagnostics);
}

}  // namespace pleat::report
