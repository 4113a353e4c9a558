// Recordings of several ranks of which some lost a collective or a message: what remains is matched
// as it belongs together, and what was lost is counted.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::countOf;

struct MadeRun {
    int ranks = 3;
    int collectives = 12;
    std::map<int, std::set<int>> lost = {};  // rank -> which
    bool numbered = false;                   // "Seq" is recorded
    bool sized = false;                      // each has its own size
    bool regular = false;                    // the same time between all
    int recorded = 3;                        // of the ranks
};

// The k-th ends at one moment on all ranks; its bytes say which it is, where sizes are recorded.
int endOf(const MadeRun& run, int k) {
    return 1000 * (k + 1) + (run.regular ? 0 : (k * k * 37) % 700);
}

std::string fileOf(const MadeRun& run, int rank) {
    std::vector<std::string> events;
    for (int k = 0; k < run.collectives; ++k) {
        const auto lost = run.lost.find(rank);
        if (lost != run.lost.end() && lost->second.contains(k)) continue;
        const int begin = endOf(run, k) - 300 - 20 * ((k + rank) % run.ranks);
        events.push_back(fmt::format(
            R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL",)"
            R"("pid":0,"tid":7,"ts":{},"dur":{},"args":{{"stream":7,"device":0,)"
            R"("Collective name":"allreduce","dtype":"Float","In msg nelems":{},"Group size":{},)"
            R"("Process Group Name":"1","Process Group Description":"mesh_dp"{}}}}})",
            begin, endOf(run, k) - begin + rank % 2, run.sized ? 1000 + k : 1000, run.ranks,
            run.numbered ? fmt::format(R"(,"Seq":{})", k) : std::string()));
    }
    return fmt::format(R"({{"distributedInfo":{{"rank":{},"world_size":{}}},"traceEvents":[{}]}})",
                       rank, run.ranks, fmt::join(events, ","));
}

trace::Trace annotated(const MadeRun& run) {
    const test::TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < run.recorded; ++rank) {
        files.push_back(folder.file(fmt::format("rank{}.json", rank)));
        test::writeBytes(files.back(), fileOf(run, rank));
    }
    const auto imported = importers::importTraces(files);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

// Every match holds collectives of one moment, and every one that two ranks or more recorded is
// matched.
void expectRight(const MadeRun& run, const std::string& what) {
    const trace::Trace trace = annotated(run);
    const auto& found = trace.annotations();
    for (const trace::Match& match : found.matches) {
        const auto first = found.transfers[match.members.front()].span.end;
        for (const trace::TransferId member : match.members)
            EXPECT_LE(std::abs((found.transfers[member].span.end - first).ns), 2'000) << what;
    }
    std::int64_t expected = 0, lost = 0;
    for (int k = 0; k < run.collectives; ++k) {
        int has = 0;
        for (int rank = 0; rank < run.recorded; ++rank) {
            const auto own = run.lost.find(rank);
            has += own != run.lost.end() && own->second.contains(k) ? 0 : 1;
        }
        expected += has >= 2 ? 1 : 0;
        lost += run.recorded - has;
    }
    EXPECT_EQ(static_cast<std::int64_t>(found.matches.size()), expected) << what;
    if (lost == 0) {
        EXPECT_EQ(countOf(trace, "collective_lost"), 0) << what;
        return;
    }
    EXPECT_GT(countOf(trace, "collective_lost") + countOf(trace, "incomplete_match") +
                  countOf(trace, "unmatched_transfer"),
              0)
        << what << ": the hole is counted";
}

TEST(LostCommunication, OneAtTheBeginningInTheMiddleAndAtTheEnd) {
    for (const bool numbered : {false, true}) {
        for (const bool sized : {false, true}) {
            for (const int which : {0, 1, 5, 10, 11}) {
                MadeRun run;
                run.numbered = numbered;
                run.sized = sized;
                run.lost = {{1, {which}}};
                expectRight(run, fmt::format("{} {} {}", which, numbered, sized));
            }
        }
    }
}

TEST(LostCommunication, SeveralAtSeveralRanks) {
    for (const bool numbered : {false, true}) {
        for (const bool sized : {false, true}) {
            MadeRun run;
            run.numbered = numbered;
            run.sized = sized;
            run.lost = {{1, {3, 4}}};
            expectRight(run, "two in a row");
            run.lost = {{0, {2}}, {1, {5}}, {2, {8}}};
            expectRight(run, "as many on each rank, others");
            run.lost = {{0, {0, 6}}, {2, {6, 11}}};
            expectRight(run, "one that one rank alone has");
        }
    }
}

TEST(LostCommunication, InTheMiddleIsCountedWhereItLies) {
    MadeRun run;
    run.lost = {{1, {5}}, {2, {7, 8}}};
    const trace::Trace trace = annotated(run);
    EXPECT_EQ(countOf(trace, "collective_lost"), 3);
    EXPECT_EQ(countOf(trace, "incomplete_match"), 3) << "two of three members";
    EXPECT_EQ(countOf(trace, "order_shifted"), 0);
}

TEST(LostCommunication, RegularStepsAreToldApartByTheOneClock) {
    MadeRun run;
    run.regular = true;
    run.lost = {{1, {5}}};
    expectRight(run, "regular");
}

// Four members, of which two were recorded.
TEST(LostCommunication, GroupsMayHaveRanksThatWereNotRecorded) {
    MadeRun run;
    run.ranks = 4;
    run.recorded = 2;
    run.lost = {{1, {4}}};
    expectRight(run, "two of four");
}

// A number says what belongs together; an operation under the same number that is another does not.
TEST(LostCommunication, OneNumberOfTwoOperationsIsTwoCollectives) {
    const auto file = [](int rank, const char* operation) {
        return fmt::format(
            R"({{"distributedInfo":{{"rank":{},"world_size":2}},"traceEvents":[{{"ph":"X",)"
            R"("cat":"kernel","name":"ncclDevKernel_Generic_1","pid":0,"tid":7,"ts":1,"dur":9,)"
            R"("args":{{"Collective name":"{}","dtype":"Float","In msg nelems":5,"Seq":3,)"
            R"("Process Group Name":"1"}}}}]}})",
            rank, operation);
    };
    const test::TemporaryFolder folder;
    const std::vector<std::filesystem::path> files = {folder.file("rank0.json"),
                                                      folder.file("rank1.json")};
    test::writeBytes(files[0], file(0, "allreduce"));
    test::writeBytes(files[1], file(1, "_allgather_base"));
    const trace::Trace trace = annotate(importers::importTraces(files).value()).value();
    EXPECT_TRUE(trace.annotations().matches.empty());
    EXPECT_EQ(countOf(trace, "unmatched_transfer"), 2);
}

// Sends and receives of two ranks, of one size each, without numbers.
TEST(LostCommunication, AMessageThatOneEndLostShiftsNoOther) {
    const auto file = [](int rank, int lost) {
        std::vector<std::string> events;
        for (int k = 0; k < 12; ++k) {
            if (k == lost) continue;
            const int end = 1000 * (k + 1) + (k * k * 37) % 700;
            events.push_back(fmt::format(
                R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":7,)"
                R"("ts":{},"dur":{},"args":{{"Collective name":"{}","dtype":"Float",)"
                R"("In msg nelems":64,"Process Group Name":"1","Process Group Ranks":"[0, 1]",)"
                R"("Process Group Description":"mesh_pp","{} Rank":{}}}}})",
                end - 200 - 100 * rank, 200 + 100 * rank, rank == 0 ? "send" : "recv",
                rank == 0 ? "Dst" : "Src", 1 - rank));
        }
        return fmt::format(
            R"({{"distributedInfo":{{"rank":{},"world_size":2}},"traceEvents":[{}]}})", rank,
            fmt::join(events, ","));
    };
    for (const auto& [sender, receiver] : {std::pair(5, -1), std::pair(-1, 5), std::pair(3, 8)}) {
        const test::TemporaryFolder folder;
        const std::vector<std::filesystem::path> files = {folder.file("rank0.json"),
                                                          folder.file("rank1.json")};
        test::writeBytes(files[0], file(0, sender));
        test::writeBytes(files[1], file(1, receiver));
        const trace::Trace trace = annotate(importers::importTraces(files).value()).value();
        const auto& found = trace.annotations();
        const int lost = (sender >= 0 ? 1 : 0) + (receiver >= 0 ? 1 : 0);
        EXPECT_EQ(found.matches.size(), static_cast<std::size_t>(12 - lost));
        EXPECT_EQ(countOf(trace, "unmatched_transfer"), lost);
        for (const trace::Match& match : found.matches)
            EXPECT_EQ(found.transfers[match.members[0]].span.end,
                      found.transfers[match.members[1]].span.end);
    }
}

// Losses at random on all ranks: 99 of 100 members of a match are where they belong, and holes are
// counted.
TEST(LostCommunication, RandomLossesAreFoundAndCounted) {
    std::mt19937 random(5);
    std::int64_t members = 0, right = 0, holes = 0, counted = 0;
    for (int repeat = 0; repeat < 30; ++repeat) {
        MadeRun run;
        run.ranks = run.recorded = 4;
        run.collectives = 60;
        run.sized = repeat % 2 == 0;
        std::map<int, int> having;
        for (int rank = 0; rank < run.ranks; ++rank) {
            for (int k = 0; k < run.collectives; ++k) {
                if (random() % 100 < 3) run.lost[rank].insert(k);
                having[k] += run.lost[rank].contains(k) ? 0 : 1;
            }
        }
        for (int rank = 0; rank < run.ranks; ++rank) {
            for (const int k : run.lost[rank])
                holes += k > 2 && k < run.collectives - 3 && having[k] > 0 ? 1 : 0;
        }
        const trace::Trace trace = annotated(run);
        counted += countOf(trace, "collective_lost");
        const auto& found = trace.annotations();
        for (const trace::Match& match : found.matches) {
            const auto first = found.transfers[match.members.front()].span.end;
            for (const trace::TransferId member : match.members) {
                ++members;
                right += std::abs((found.transfers[member].span.end - first).ns) <= 2'000 ? 1 : 0;
            }
        }
    }
    EXPECT_GE(static_cast<double>(right), 0.99 * static_cast<double>(members));
    EXPECT_GE(static_cast<double>(members), 0.98 * 30 * 60 * 4 * 0.97);
    EXPECT_NEAR(static_cast<double>(counted), static_cast<double>(holes),
                0.1 * static_cast<double>(holes))
        << holes;
}

struct Lost {
    std::string name;
    int process = 0, thread = 0, step = 0, order = 0;
};

// Four steps of two stages and two replicas, four microbatches each; what is said of an event may
// be its number within the step, or not.
trace::Trace timersWithout(const Lost& lost, bool numbered) {
    std::vector<std::string> events;
    const auto add = [&](const char* name, int process, int thread, int step, int order,
                         double start, double duration) {
        if (lost.name == name && lost.process == process && lost.thread == thread &&
            lost.step == step && lost.order == order)
            return;
        events.push_back(fmt::format(
            R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"step":{},)"
            R"("model_chunk":-1,"mb_id":{},"seq_id":{}}}}})",
            name, process, thread, start, duration, step, order,
            numbered ? std::to_string(order) : "null"));
    };
    for (int process = 0; process < 2; ++process) {
        for (int thread = 0; thread < 2; ++thread) {
            events.push_back(
                fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":)"
                            R"("PP rank {}, TP rank 0, compute"}}}})",
                            process, thread, thread));
        }
        for (int step = 0; step < 4; ++step) {
            const double from = 1000.0 * step;
            for (int mb = 0; mb < 4; ++mb) {
                add("forward-compute", process, 0, step, mb, from + 100 * mb, 99);
                add("forward-send", process, 0, step, mb, from + 100 * mb + 99, 10);
                add("forward-recv", process, 1, step, mb, from + 100 * mb + 50, 59);
                add("forward-compute", process, 1, step, mb, from + 100 * mb + 110, 80);
            }
            for (int thread = 0; thread < 2; ++thread)
                add("grads-reduce-scatter", process, thread, step, 0, from + 600 - 20 * process,
                    100 + 20 * process);
        }
    }
    const auto imported = importers::importText(fmt::format("[{}]", fmt::join(events, ",")));
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

TEST(LostCommunication, ATimerThatWasLostShiftsNoOther) {
    for (const bool numbered : {true, false}) {
        EXPECT_EQ(countOf(timersWithout({}, numbered), "unmatched_transfer"), 0);
        for (const Lost& lost :
             {Lost{"forward-send", 0, 0, 1, 0}, Lost{"forward-send", 0, 0, 1, 2},
              Lost{"forward-recv", 1, 1, 2, 1}, Lost{"forward-recv", 0, 1, 3, 3},
              Lost{"grads-reduce-scatter", 0, 1, 1, 0}, Lost{"grads-reduce-scatter", 1, 0, 0, 0}}) {
            const trace::Trace trace = timersWithout(lost, numbered);
            const auto& found = trace.annotations();
            EXPECT_EQ(countOf(trace, "unmatched_transfer"), 1) << lost.name << lost.order;
            EXPECT_EQ(countOf(trace, "clock_disagrees"), 0) << lost.name << lost.order;
            for (const trace::Match& match : found.matches) {
                const trace::Transfer& first = found.transfers[match.members.front()];
                for (const trace::TransferId member : match.members) {
                    EXPECT_EQ(found.transfers[member].iteration, first.iteration);
                    EXPECT_EQ(found.transfers[member].microbatch, first.microbatch);
                    EXPECT_EQ(found.transfers[member].span.end, first.span.end)
                        << lost.name << lost.order << numbered;
                }
            }
        }
    }
}

}  // namespace
}  // namespace pleat::annotate
