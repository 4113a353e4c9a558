// The published what-if answers of two production jobs, read in place: every number of their result
// files. Skipped where the traces are not beside the checkout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "analysis/ideal_times.h"
#include "analysis/run_analysis.h"
#include "analysis/suspects.h"
#include "analysis/what_if.h"
#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

using importers::sharedTraces;
using nlohmann::json;
using Lengths = std::vector<base::Duration>;

constexpr double kRelative = 1e-5;
constexpr double kAbsolute = 1e-6;  // of rem and add, which are differences

std::filesystem::path folder() { return sharedTraces() / "straggler"; }

json answers(const std::string& file) {
    std::ifstream stream(folder() / file);
    return json::parse(stream);
}

// The worst deviation of each kind of number, which a failing run prints.
class Worst {
  public:
    void relative(const std::string& what, double ours, double published) {
        note(what, std::abs(ours - published) / std::abs(published), kRelative);
    }
    void absolute(const std::string& what, double ours, double published) {
        note(what, std::abs(ours - published), kAbsolute);
    }
    void print(const std::string& job) const {
        for (const auto& [what, deviation] : m_worst)
            std::printf("%s %-40s %.2e\n", job.c_str(), what.c_str(), deviation);
    }

  private:
    void note(const std::string& what, double deviation, double allowed) {
        EXPECT_LE(deviation, allowed) << what;
        double& worst = m_worst[what];
        worst = std::max(worst, deviation);
    }
    std::map<std::string, double> m_worst;
};

struct Job {
    std::string name;
    json published;
    ReplayModel model;
    Lengths measured, replay, ideal;
    std::map<std::string, Lengths> attributed;  // by key: all ideal but this

    explicit Job(const std::string& job)
        : name(job), published(answers("result-" + job + ".json")) {
        const auto imported = importers::importFile(folder() / ("timeline-" + job + ".json.gz"));
        const auto trace = annotate::annotate(*imported);
        std::vector<graph::IterationWindow> windows;
        for (const graph::IterationWindow& window : graph::iterationWindows(*trace)) {
            const std::string step = std::to_string(window.iteration);
            if (published["step_t_base"].contains(step)) windows.push_back(window);
        }
        base::Diagnostics diagnostics;
        model = replayModel(*trace, windows, diagnostics);
        EXPECT_TRUE(model.ofTimers);
        for (const ReplayWindow& window : model.windows()) measured.push_back(window.measured);
        replay = replayed(model, recordedTimes());
        ideal = replayed(model, idealTimes(model));
    }

    Covers suspect(const std::string& key) const {
        const auto parsed = parseSuspect(key, suspectsIn(model));
        EXPECT_TRUE(parsed) << key;
        return coverage(model, *parsed).work;
    }
    Lengths onlyRecorded(const Covers& which) const {
        return replayed(model, choose(which, recordedTimes(), idealTimes(model)));
    }
    Lengths onlyIdeal(const Covers& which) const {
        return replayed(model, choose(which, idealTimes(model), recordedTimes()));
    }
    const Lengths& attributedTo(const std::string& key) {
        const auto [known, isNew] = attributed.try_emplace(key);
        if (isNew) known->second = onlyRecorded(suspect(key));
        return known->second;
    }
    double slowdownOf(const std::string& key) { return meanOf(attributedTo(key)) / meanOf(ideal); }
};

double seconds(base::Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

double ratio(base::Duration a, base::Duration b) {
    return static_cast<double>(a.ns) / static_cast<double>(b.ns);
}

void compareSteps(Job& job, Worst& worst) {
    const json& published = job.published;
    ASSERT_EQ(job.model.iterations.size(), published["step_t_base"].size());
    for (std::size_t i = 0; i < job.model.iterations.size(); ++i) {
        const std::string step = std::to_string(job.model.iterations[i].windows.front().iteration);
        const auto expect = [&](const char* what, double ours) {
            worst.relative(what, ours, published[what][step].get<double>());
        };
        expect("step_t_base", seconds(job.measured[i]));
        expect("step_t_nodelay", seconds(job.replay[i]));
        expect("step_t_noblk", seconds(job.ideal[i]));
        expect("blocking_step_slowdown", ratio(job.replay[i], job.ideal[i]));
        expect("launch_step_slowdown", ratio(job.measured[i], job.replay[i]));
    }
    worst.relative("launch_slowdown", meanOf(job.measured) / meanOf(job.replay),
                   published["launch_slowdown"].get<double>());
    worst.relative("blocking_slowdown", meanOf(job.replay) / meanOf(job.ideal),
                   published["blocking_slowdown"].get<double>());
}

void compareAttribution(Job& job, const std::string& table, const std::string& prefix,
                        Worst& worst) {
    const json& whole = job.published[table];
    ASSERT_FALSE(whole.empty());
    for (const auto& [name, slowdown] : whole.items())
        worst.relative(table, job.slowdownOf(prefix + name), slowdown.get<double>());
    const json& perStep = job.published[table + "_per_step"];
    ASSERT_EQ(perStep.size(), job.model.iterations.size());
    for (std::size_t i = 0; i < job.model.iterations.size(); ++i) {
        const json& step = perStep[std::to_string(job.model.iterations[i].windows.front().iteration)];
        EXPECT_EQ(step.size(), whole.size());
        for (const auto& [name, slowdown] : step.items()) {
            worst.relative(table + "_per_step",
                           ratio(job.attributedTo(prefix + name)[i], job.ideal[i]),
                           slowdown.get<double>());
        }
    }
}

// What a set of suspects explains: removed from the run as it was, added to the ideal one.
void compareShare(const Job& job, const std::string& file, const char* metric, const Covers& which,
                  Worst& worst) {
    const json published = answers(file);
    const double original = meanOf(job.replay), best = meanOf(job.ideal);
    const double removed = meanOf(job.onlyIdeal(which)), added = meanOf(job.onlyRecorded(which));
    const double rem = (original - removed) / (original - best);
    worst.relative(file + " tori", original / 1e9, published["tori"].get<double>());
    worst.relative(file + " tideal", best / 1e9, published["tideal"].get<double>());
    worst.relative(file + " trem", removed / 1e9, published["trem"].get<double>());
    worst.relative(file + " tadd", added / 1e9, published["tadd"].get<double>());
    worst.absolute(file + " rem", rem, published["rem"].get<double>());
    worst.absolute(file + " add", (added - best) / (original - best),
                   published["add"].get<double>());
    worst.absolute(file + " metric", rem, published[metric].get<double>());
}

// The 3 % of workers whose data-parallel rank and whose stage both explain most.
std::vector<std::pair<int, int>> worstWorkers(Job& job, int replicas, int stages) {
    std::vector<std::pair<double, std::pair<int, int>>> workers;
    for (int dp = 0; dp < replicas; ++dp) {
        for (int stage = 0; stage < stages; ++stage) {
            const double explained = std::min(job.slowdownOf("dp:" + std::to_string(dp)),
                                              job.slowdownOf("stage:" + std::to_string(stage)));
            workers.push_back({explained, {dp, stage}});
        }
    }
    std::stable_sort(workers.begin(), workers.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::pair<int, int>> chosen;
    const double count = std::ceil(0.03 * replicas * stages);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        chosen.push_back(workers[i].second);
    return chosen;
}

void compareAll(const std::string& name, int replicas, int stages) {
    Job job(name);
    Worst worst;
    compareSteps(job, worst);
    compareAttribution(job, "blocking_decompose_by_stage", "stage:", worst);
    compareAttribution(job, "blocking_decompose_by_dp_rank", "dp:", worst);
    compareAttribution(job, "blocking_decompose_by_optype", "", worst);
    compareShare(job, "ms-" + name + ".json", "Ms",
                 job.suspect("stage:" + std::to_string(stages - 1)), worst);
    std::vector<Covers> workers;
    for (const auto& [dp, stage] : worstWorkers(job, replicas, stages)) {
        workers.push_back([inDp = job.suspect("dp:" + std::to_string(dp)),
                           inStage = job.suspect("stage:" + std::to_string(stage))](
                              const ReplayIteration& iteration, std::size_t node) {
            return inDp(iteration, node) && inStage(iteration, node);
        });
    }
    const Covers anyWorker = [&](const ReplayIteration& iteration, std::size_t node) {
        return std::any_of(workers.begin(), workers.end(),
                           [&](const Covers& worker) { return worker(iteration, node); });
    };
    compareShare(job, "mw-" + name + ".json", "Mw", anyWorker, worst);
    worst.print(name);
}

TEST(PublishedStragglers, OfAJobWithAnOverloadedLastStage) {
    SKIP_WITHOUT_SHARED_TRACES();
    compareAll("ST", 2, 4);
}

TEST(PublishedStragglers, OfAJobWithUnevenSequences) {
    SKIP_WITHOUT_SHARED_TRACES();
    compareAll("SE", 32, 2);
}

// The answers leave out steps 31 and 32, which the timeline has.
TEST(PublishedStragglers, SlowdownOfAllStepsAndOfThoseChosen) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto imported = importers::importFile(folder() / "timeline-SE.json.gz");
    const auto trace = annotate::annotate(*imported);
    WhatIfOptions options;
    options.ideal = {"all"};
    const auto all = analyseWhatIf(*trace, options);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->iterations.size(), 45U);
    EXPECT_NEAR(all->slowdown, 1.536172, 1e-6);
    EXPECT_LT(all->replayError, 0.01);
    options.iterations = {{0, 30}, {33, 1000}};
    const auto chosen = analyseWhatIf(*trace, options);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->iterations.size(), 43U);
    EXPECT_NEAR(chosen->slowdown, 1.53736137, 1e-6);
}

// The overloaded last stage comes first in the report, before its rank that costs as much alone:
// the published M_S is 1.22 for the stage made ideal, M_W 0.03 for the worst worker.
TEST(PublishedStragglers, TheReportNamesTheOverloadedStage) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto imported = importers::importFile(folder() / "timeline-ST.json.gz");
    const auto run = analyseRun(*annotate::annotate(*imported), {});
    ASSERT_TRUE(run);
    ASSERT_GE(run->stragglers.size(), 2U);
    EXPECT_EQ(toString(run->stragglers[0].suspect), "stage:3");
    EXPECT_NEAR(run->stragglers[0].slowdown, 1.2322559543, 1e-6);
    EXPECT_EQ(toString(run->stragglers[1].suspect), "rank:7");
    EXPECT_EQ(run->stragglers[1].stage, 3);
}

// The replay that a report speaks of is the one its stragglers stand on.
TEST(PublishedStragglers, TheReportsReplayIsThatOfItsStragglers) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto trace = annotate::annotate(*importers::importFile(folder() / "timeline-ST.json.gz"));
    const auto run = analyseRun(*trace, {});
    const auto whatIf = analyseWhatIf(*trace, {});
    ASSERT_TRUE(run && whatIf);
    ASSERT_TRUE(run->replay);
    EXPECT_EQ(run->replay->predicted, whatIf->replay);
    EXPECT_EQ(run->replay->measured, whatIf->measured);
    EXPECT_EQ(run->replay->errorFraction, whatIf->replayError);
}

}  // namespace
}  // namespace pleat::analysis
