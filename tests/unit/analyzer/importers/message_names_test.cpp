// Messages of NCCL's kernels say no more than their ends; the order of tasks tells what they carry.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

struct Recording {
    std::vector<std::string> events[2];

    void task(int rank, const std::string& action, int begin, int length) {
        events[rank].push_back(fmt::format(
            R"({{"ph":"X","cat":"gpu_user_annotation","name":"PP:{}","pid":0,"tid":7,"ts":{},"dur":{}}})",
            action, begin, length));
    }
    // From `rank` to the other one, on either's own stream.
    void message(int from, int begin, int length) {
        for (const int rank : {0, 1}) {
            const bool sends = rank == from;
            events[rank].push_back(fmt::format(
                R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":{},"ts":{},)"
                R"("dur":{},"args":{{"stream":{},"device":0,"Collective name":"{}","dtype":"Float",)"
                R"("In msg nelems":1000,"Group size":2,"Src Rank":{},"Dst Rank":{},)"
                R"("Process Group Name":"3","Process Group Description":"mesh_pp",)"
                R"("Process Group Ranks":"[0, 1]"}}}})",
                sends ? 20 : 21, begin, length, sends ? 20 : 21, sends ? "send" : "recv", from,
                1 - from));
        }
    }
    trace::Trace read() const {
        const test::TemporaryFolder folder;
        std::vector<std::filesystem::path> files;
        for (const int rank : {0, 1}) {
            files.push_back(folder.file(fmt::format("rank{}.json", rank)));
            test::writeBytes(
                files.back(),
                fmt::format(
                    R"({{"distributedInfo":{{"rank":{},"world_size":2}},"traceEvents":[{}]}})",
                    rank, fmt::join(events[rank], ",")));
        }
        const auto imported = importers::importTraces(files);
        EXPECT_TRUE(imported) << importers::messageOf(imported);
        return annotate(*imported).value();
    }
};

// Two stages and two microbatches; messages of 100 us begin 10 us before their task's timer ends.
Recording gpipe() {
    Recording run;
    run.task(0, "0F0", 0, 1'000);
    run.task(0, "0F1", 1'000, 1'000);
    run.message(0, 990, 100);
    run.message(0, 1'990, 100);
    run.task(1, "1F0", 1'090, 1'000);
    run.task(1, "1F1", 2'090, 1'000);
    run.task(1, "1B0", 3'090, 2'000);
    run.task(1, "1B1", 5'090, 2'000);
    run.message(1, 5'080, 100);
    run.task(0, "0B0", 5'180, 2'000);
    return run;
}

std::vector<std::string> actionsOf(const trace::Trace& trace, int number) {
    std::vector<std::string> names;
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        if (trace.ranks()[transfer.rank].number != number) continue;
        names.push_back(transfer.action
                            ? toString(schedule::Action{
                                  transfer.stage, *transfer.action, transfer.microbatch, {}})
                            : "none");
    }
    return names;
}

using Names = std::vector<std::string>;

TEST(MessageNames, AreThoseOfTheTasksWhoseResultsTheyCarry) {
    Recording run = gpipe();
    run.message(1, 7'080, 100);
    run.task(0, "0B1", 7'180, 2'000);
    const trace::Trace trace = run.read();
    EXPECT_EQ(actionsOf(trace, 0), (Names{"0SEND_F0", "0SEND_F1", "0RECV_B0", "0RECV_B1"}));
    EXPECT_EQ(actionsOf(trace, 1), (Names{"1RECV_F0", "1RECV_F1", "1SEND_B0", "1SEND_B1"}));
    EXPECT_EQ(importers::countOf(trace, "fields_guessed"), 8);
}

TEST(MessageNames, AreNotGuessedWhereAMessageIsMissing) {
    Recording run = gpipe();  // 1B1's is lost
    run.task(0, "0B1", 7'180, 2'000);
    const trace::Trace trace = run.read();
    EXPECT_EQ(actionsOf(trace, 0), (Names{"0SEND_F0", "0SEND_F1", "none"}));
}

TEST(MessageNames, AreNotGuessedWhereMessagesLeaveBeforeTheirTasksEnd) {
    Recording run;
    run.task(0, "0F0", 0, 1'000);
    run.task(1, "1F0", 1'100, 1'000);
    run.message(0, 100, 100);
    EXPECT_EQ(actionsOf(run.read(), 0), (Names{"none"}));
}

}  // namespace
}  // namespace pleat::annotate
