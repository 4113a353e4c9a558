#include "e2e/known_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace pleat::test {
namespace {

using Words = std::vector<std::string>;

struct Base {
    std::string engine, schedule;
    int pp = 2, dp = 1, chunks = 1, microbatches = 6;
    double jitter = 0;

    [[nodiscard]] std::string name() const {
        return fmt::format("{} {} {}x{}{}", engine, schedule, dp, pp,
                           chunks > 1 ? fmt::format(" v{}", chunks) : "") +
               (jitter > 0 ? " uneven" : "");
    }
    [[nodiscard]] Words arguments() const {
        const auto text = [](int number) { return std::to_string(number); };
        return {"--engine",       engine,
                "--schedule",     schedule,
                "--pp",           text(pp),
                "--dp",           text(dp),
                "--chunks",       text(chunks),
                "--forward",      "4",
                "--backward",     "8",
                "--data",         "1",
                "--sync",         "5",
                "--optimizer",    "2",
                "--latency",      "2",
                "--microbatches", text(microbatches),
                "--bytes",        "1000000",
                "--iterations",   "5",
                "--jitter",       fmt::format("{}", jitter)};
    }
    // With one replica and one stage each, a rank is its stage.
    [[nodiscard]] Words namesOf(int rank) const {
        Words names = {fmt::format("rank:{}", rank)};
        if (dp == 1 && chunks == 1) names.push_back(fmt::format("stage:{}", rank));
        return names;
    }
};

// What stays as it is when only tasks change.
const Words kKeepAllButTasks = {"--keep", "transfer.pp", "--keep", "data", "--keep", "optimizer"};

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

class Maker {
  public:
    void tasksOf(const Base& base, const std::string& where, double factor, const Words& culprits) {
        Words keep = kKeepAllButTasks;
        if (base.dp > 1) keep = keep + Words{"--keep", "transfer.dp"};
        scaled(base, where, where, factor, culprits, keep);
    }
    void scaled(const Base& base, const std::string& where, const std::string& key, double factor,
                const Words& culprits, const Words& keep = {}) {
        const Words slow = {"--slow", fmt::format("{}={}", where, factor)};
        add(base, where, slow, culprits,
            Words{"--scale", fmt::format("{}={}", key, 1 / factor)} + keep,
            Words{"--scale", fmt::format("{}={}", key, factor)} + keep);
    }
    void add(const Base& base, const std::string& what, const Words& injection,
             const Words& culprits, const Words& removal, const Words& addition = {},
             const Words& removed = {}) {
        cases.push_back({base.name() + ": " + what, base.arguments(), injection, culprits, removal,
                         removed, addition, false});
    }

    // One rank's tasks, through a microbatch on it: nothing but that rank's own is changed.
    void microbatchOnRank(const Base& base, int microbatch, int rank, double factor) {
        const std::string key = fmt::format("microbatch:{}", microbatch);
        Words keep = kKeepAllButTasks;
        for (int other = 0; other < base.pp * base.dp; ++other) {
            if (other != rank) keep = keep + Words{"--keep", fmt::format("rank:{}", other)};
        }
        scaled(base, fmt::format("{},rank:{}", key, rank), key, factor,
               base.namesOf(rank) + Words{key}, keep);
    }

    // The same by --ideal: the microbatch takes what the others do.
    void idealMicrobatch(const Base& base, int microbatch, int rank, double factor) {
        const std::string key = fmt::format("microbatch:{}", microbatch);
        add(base, fmt::format("{},rank:{} by --ideal", key, rank),
            {"--slow", fmt::format("{},rank:{}={}", key, rank, factor)},
            base.namesOf(rank) + Words{key}, Words{"--ideal", key} + kKeepAllButTasks);
    }

    void link(const Base& base, int lower, double factor) {
        const std::string key = fmt::format("link:{}-{}", lower, lower + 1);
        scaled(base, key, key, factor, {key});
        add(base, key + " by --ideal", {"--slow", fmt::format("{}={}", key, factor)}, {key},
            {"--ideal", key});
    }

    void pauses(const Base& base, int rank, double milliseconds) {
        add(base, fmt::format("pauses on rank:{}", rank),
            {"--pause", fmt::format("rank:{}={}", rank, milliseconds)},
            base.namesOf(rank) + Words{fmt::format("pause:{}", rank)},
            {"--ideal", fmt::format("rank:{}", rank)});
    }

    void contention(const Base& base, int rank, double share) {
        const std::string key = fmt::format("rank:{}", rank);
        Words keep = kKeepAllButTasks;
        if (base.dp > 1) keep = keep + Words{"--keep", "transfer.dp"};
        add(base, "contention on " + key, {"--contend", fmt::format("{}={}", key, share)},
            base.namesOf(rank), Words{"--scale", fmt::format("{}={}", key, 1 - share)} + keep);
    }

    std::vector<KnownCase> cases;
};

void onePipeline(Maker& make, const Base& base) {
    const int slow = base.pp > 2 ? 1 : 0;
    make.tasksOf(base, fmt::format("stage:{}", slow), 1.5,
                 base.namesOf(slow) + Words{fmt::format("stage:{}", slow)});
    make.tasksOf(base, "microbatch:2", 2, {"microbatch:2"});
    make.microbatchOnRank(base, 2, slow, 4);
    make.idealMicrobatch(base, 2, slow, 4);
    if (base.pp > 2 && base.chunks == 1) make.link(base, 1, 4);
    make.pauses(base, slow, 3);
    make.contention(base, slow, 0.4);
}

void twoReplicas(Maker& make, const Base& base) {
    make.tasksOf(base, "rank:3", 1.5, {"rank:3"});
    make.tasksOf(base, "stage:1", 1.4, {"stage:1"});
    make.tasksOf(base, "dp:1", 1.3, {"dp:1"});
    make.tasksOf(base, "microbatch:1", 2, {"microbatch:1"});
    make.pauses(base, 2, 3);
    make.contention(base, 1, 0.4);
    // Only first stages load data, so dp 1's loader is rank 2.
    make.add(base, "data on rank:2", {"--slow", "data,rank:2=20"}, {"rank:2", "data"},
             {"--scale", "data=0.05", "--keep", "rank:0"},
             {"--scale", "data=20", "--keep", "rank:0"});
    Words others;
    for (const int rank : {0, 1, 3})
        others = others + Words{"--keep", fmt::format("rank:{}", rank)};
    make.add(base, "optimizer on rank:2", {"--slow", "optimizer,rank:2=8"}, {"rank:2", "optimizer"},
             Words{"--scale", "optimizer=0.125"} + others,
             Words{"--scale", "optimizer=8"} + others);
    // The last rank begins the next iteration late anyway: what it does longer costs nothing.
    Words otherThanLast;
    for (const int rank : {0, 1, 2})
        otherThanLast = otherThanLast + Words{"--keep", fmt::format("rank:{}", rank)};
    make.add(base, "optimizer on rank:3, free", {"--slow", "optimizer,rank:3=5"}, {"none"},
             Words{"--scale", "optimizer=0.2"} + otherThanLast,
             Words{"--scale", "optimizer=5"} + otherThanLast);
    make.scaled(base, "link:2-3", "link:2-3", 4, {"link:2-3"});
    make.add(base, "sync of stage:1", {"--slow", "sync,stage:1=5"},
             {"stage:1", "transfer.dp", "dp.all_reduce", "all_reduce", "REDUCE_GRAD"},
             Words{"--scale", "transfer.dp=0.2", "--keep", "stage:0"},
             Words{"--scale", "transfer.dp=5", "--keep", "stage:0"});
}

// Of each engine and each kind of injection some, for the time a test may take.
constexpr std::string_view kShortSet[] = {
    "ahead 1f1b 1x4: stage:1",
    "ahead 1f1b 1x4: microbatch:2,rank:1",
    "ahead 1f1b 1x4: link:1-2",
    "ahead 1f1b 1x4: link:1-2 by --ideal",
    "ahead 1f1b 1x4: pauses on rank:1",
    "ahead 1f1b 1x4: contention on rank:1",
    "ahead 1f1b 1x4 uneven: link:1-2",
    "literal 1f1b 1x3: stage:1",
    "literal 1f1b 1x3: microbatch:2,rank:1",
    "literal 1f1b 1x3: link:1-2",
    "inline gpipe 1x3: microbatch:2",
    "inline gpipe 1x3: link:1-2",
    "inline gpipe 1x3: pauses on rank:1",
    "blocking 1f1b 1x3: stage:1",
    "blocking 1f1b 1x3: link:1-2",
    "stream 1f1b 1x3: link:1-2",
    "batched 1f1b 1x4: microbatch:2",
    "batched 1f1b 1x4: link:1-2",
    "waitall 1f1b 1x3: stage:1",
    "nested 1f1b 1x3: stage:1",
    "nested 1f1b 1x3: link:1-2",
    "posted gpipe 1x4: link:1-2",
    "literal interleaved 1x2 v2: microbatch:2,rank:0",
    "ahead folded 1x2 v2: microbatch:2",
    "ahead 1f1b 2x2: rank:3",
    "ahead 1f1b 2x2: stage:1",
    "ahead 1f1b 2x2: dp:1",
    "ahead 1f1b 2x2: pauses on rank:2",
    "ahead 1f1b 2x2: data on rank:2",
    "ahead 1f1b 2x2: optimizer on rank:2",
    "ahead 1f1b 2x2: optimizer on rank:3, free",
    "ahead 1f1b 2x2: sync of stage:1",
    "nested 1f1b 2x2: dp:1",
    "nested 1f1b 2x2: link:2-3",
};

}  // namespace

std::vector<KnownCase> knownCases() {
    Maker make;
    onePipeline(make, {"ahead", "1f1b", 4});
    onePipeline(make, {"literal", "1f1b", 3});
    onePipeline(make, {"inline", "gpipe", 3});
    onePipeline(make, {"blocking", "1f1b", 3});
    onePipeline(make, {"stream", "1f1b", 3});
    onePipeline(make, {"batched", "1f1b", 4});
    onePipeline(make, {"waitall", "1f1b", 3});
    onePipeline(make, {"nested", "1f1b", 3});
    onePipeline(make, {"posted", "gpipe", 4});
    onePipeline(make, {"ahead", "1f1b", 4, 1, 1, 6, 0.1});
    onePipeline(make, {"literal", "interleaved", 2, 1, 2});
    onePipeline(make, {"ahead", "folded", 2, 1, 2});
    twoReplicas(make, {"ahead", "1f1b", 2, 2});
    twoReplicas(make, {"literal", "1f1b", 2, 2});
    twoReplicas(make, {"nested", "1f1b", 2, 2});
    for (KnownCase& one : make.cases) {
        one.inShortSet =
            std::find(std::begin(kShortSet), std::end(kShortSet), one.name) != std::end(kShortSet);
    }
    return std::move(make.cases);
}

}  // namespace pleat::test
