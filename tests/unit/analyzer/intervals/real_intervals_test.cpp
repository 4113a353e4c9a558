// What the report says of every real trace at hand, beside sums of intervals that are written
// separately (plain_sums.h): equal to a microsecond, or docs/importing.md says why not. A row of
// its table is one file.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "opening/open_trace.h"
#include "unit/analyzer/importers/imported.h"
#include "unit/analyzer/intervals/plain_sums.h"

namespace pleat::testing {
namespace {

namespace fs = std::filesystem;
using importers::sharedTraces;

constexpr double kEqual = 1'000;  // ns

struct Row {
    std::string file, figures, difference;
};

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? std::string()
                                      : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The last cell is what differs.
std::vector<Row> rowsOfTable() {
    std::ifstream document(fs::path(PLEAT_SOURCE_DIR) / "docs" / "importing.md");
    std::vector<Row> rows;
    bool inTable = false;
    for (std::string line; std::getline(document, line);) {
        if (line.starts_with("## ")) inTable = line == "## Figures checked against sums of intervals";
        if (!inTable || !line.starts_with("| `")) continue;
        const std::size_t fileEnd = line.find('|', 1), last = line.rfind('|');
        const std::size_t difference = line.rfind('|', last - 1);
        Row row{trimmed(line.substr(1, fileEnd - 1)),
                trimmed(line.substr(fileEnd + 1, difference - fileEnd - 1)),
                trimmed(line.substr(difference + 1, last - difference - 1))};
        row.file = row.file.substr(1, row.file.size() - 2);
        rows.push_back(row);
    }
    return rows;
}

struct Figures {
    std::size_t iterations = 0;
    PlainSums sums;
};

Figures ofReport(const fs::path& file, const analysis::AnalysisOptions& options) {
    const auto opened = opening::openTrace({{file}, {}, {}});
    if (!opened) return {};
    const auto run = analysis::analyseRun(opened->trace, options);
    Figures figures;
    figures.iterations = run->iterations.indices.size();
    figures.sums.iteration = static_cast<double>(run->iterations.mean.ns);
    const auto ranks = static_cast<double>(run->ranks.size());
    for (const analysis::RankSummary& rank : run->ranks) {
        const base::Duration exposed =
            rank.time[analysis::TimePart::Moving] + rank.time[analysis::TimePart::Waiting];
        figures.sums.compute +=
            static_cast<double>(rank.time[analysis::TimePart::Compute].ns) / ranks;
        figures.sums.exposed += static_cast<double>(exposed.ns) / ranks;
        figures.sums.communication += static_cast<double>((exposed + rank.time.hidden).ns) / ranks;
    }
    return figures;
}

// Steps whose length was published, as they lie in the timeline: each ends with its last timer.
std::vector<PlainSpan> publishedSteps(const fs::path& file, const std::vector<PlainRank>& ranks,
                                      analysis::AnalysisOptions& options) {
    std::string job = file.filename().string();
    job = job.substr(std::string("timeline-").size(), 2);
    std::ifstream stream(file.parent_path() / ("result-" + job + ".json"));
    const auto lengths = nlohmann::json::parse(stream)["step_t_base"];
    std::map<std::int32_t, std::int64_t> ends;
    for (const PlainRank& rank : ranks) {
        for (const PlainWork& work : rank.work) {
            std::int64_t& end = ends.try_emplace(work.step, work.span.end).first->second;
            end = std::max(end, work.span.end);
        }
    }
    std::vector<PlainSpan> steps;
    for (const auto& [step, end] : ends) {
        const auto length = lengths.find(std::to_string(step));
        if (length == lengths.end()) continue;
        steps.push_back({end - std::llround(length->get<double>() * 1e9), end});
        options.iterations.push_back({step, step});
    }
    return steps;
}

Figures ofIntervals(const fs::path& file, analysis::AnalysisOptions& options) {
    const std::string name = file.filename().string();
    std::vector<PlainRank> ranks;
    std::vector<PlainSpan> iterations;
    if (name.starts_with("timeline-")) {
        ranks = readTimers(file);
        iterations = publishedSteps(file, ranks, options);
    } else if (name.ends_with(".sqlite")) {
        ranks = readNsight(file);
        iterations = iterationsOf(ranks);
    } else {
        std::vector<fs::path> files = {file};
        if (fs::is_directory(file)) {
            files.clear();
            for (const auto& entry : fs::directory_iterator(file)) {
                if (entry.path().extension() == ".gz") files.push_back(entry.path());
            }
            std::sort(files.begin(), files.end());
        }
        ranks = readKineto(files);
        iterations = iterationsOf(ranks);
    }
    return {iterations.size(), sumsOf(ranks, iterations)};
}

std::string milliseconds(double ns) { return fmt::format("{:.3f}", ns / 1e6); }

std::string figuresOf(const Figures& figures) {
    if (figures.iterations == 0) return "0 | | | |";
    return fmt::format("{} | {} | {} | {} | {}", figures.iterations,
                       milliseconds(figures.sums.iteration), milliseconds(figures.sums.compute),
                       milliseconds(figures.sums.communication),
                       milliseconds(figures.sums.exposed));
}

// "none", or each figure of the report that differs with what the intervals say.
std::string differenceOf(const Figures& report, const Figures& intervals) {
    std::string difference;
    const auto compare = [&](const char* what, double a, double b) {
        if (std::abs(a - b) <= kEqual) return;
        difference += fmt::format("{}{} {}", difference.empty() ? "" : ", ", what, milliseconds(b));
    };
    if (report.iterations != intervals.iterations)
        difference = fmt::format("{} iterations", intervals.iterations);
    compare("iteration", report.sums.iteration, intervals.sums.iteration);
    compare("compute", report.sums.compute, intervals.sums.compute);
    compare("communication", report.sums.communication, intervals.sums.communication);
    compare("exposed", report.sums.exposed, intervals.sums.exposed);
    return difference.empty() ? "none" : difference;
}

std::vector<fs::path> realFiles() {
    std::vector<fs::path> files;
    for (const char* folder : {"kineto", "nsys", "straggler"}) {
        for (const auto& entry : fs::directory_iterator(sharedTraces() / folder)) {
            const std::string name = entry.path().filename().string();
            if (name.ends_with(".json.gz") || name.ends_with(".sqlite"))
                files.push_back(entry.path());
        }
    }
    files.push_back(sharedTraces() / "dlrm_8rank");
    std::sort(files.begin(), files.end());
    return files;
}

TEST(RealIntervals, AreThoseOfTheReportOrTheDocumentSaysWhyNot) {
    SKIP_WITHOUT_SHARED_TRACES();
    const bool print = std::getenv("PLEAT_PRINT_TABLE") != nullptr;
    std::map<std::string, Row> rows;
    for (const Row& row : rowsOfTable()) rows[row.file] = row;
    for (const fs::path& file : realFiles()) {
        const std::string name = file.filename().string();
        analysis::AnalysisOptions options;
        const Figures intervals = ofIntervals(file, options);
        const Figures report = ofReport(file, options);
        const std::string difference = differenceOf(report, intervals);
        if (print) {
            std::printf("| `%s` | %s | %s |\n", name.c_str(), figuresOf(report).c_str(),
                        difference.c_str());
            continue;
        }
        ASSERT_TRUE(rows.contains(name)) << name << " has no row";
        const Row& row = rows[name];
        EXPECT_EQ(row.figures, figuresOf(report)) << name;
        if (difference == "none") {
            EXPECT_EQ(row.difference, difference) << name;
        } else {
            EXPECT_TRUE(row.difference.starts_with(difference + ": "))
                << name << ": " << difference;
        }
    }
}

}  // namespace
}  // namespace pleat::testing
