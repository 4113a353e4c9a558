// Profiles with the oddities that shared/bad-inputs.md collects from public reports (the numbers
// are its rows), through import and annotation.
#include <gtest/gtest.h>

#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using trace::TransferId;

trace::Trace annotatedText(const std::string& text) {
    auto imported = importers::importText(text);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

std::string kernel(const std::string& name, double start, double duration,
                   const std::string& arguments = "{}") {
    return fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{:.3f},"dur":{:.3f},"args":{}}})",
        name, start, duration, arguments);
}

std::string launch(double start, int correlation) {
    return fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{},"dur":1,"args":{{"correlation":{}}}}})",
        start, correlation);
}

std::string list(const std::vector<std::string>& events) {
    return fmt::format("[{}]", fmt::join(events, ","));
}

// bad-inputs 10
TEST(OddProfiles, WordsThatJsonDoesNotHaveAreKeptAsTexts) {
    const trace::Trace trace = annotatedText(
        R"([{"name":"AllReduce","cat":"COLL","ph":"b","id":0,"pid":7,"tid":1,"ts":0.000000,)"
        R"("args":{"Stream":0x262ca50,"datatype":ncclFloat32,"Count":16,"ok":[true,-1.5e3]}},)"
        R"({"name":"AllReduce","cat":"COLL","ph":"e","id":0,"pid":7,"tid":1,"ts":4.5})");
    ASSERT_EQ(trace.eventCount(), 1U);
    EXPECT_EQ(trace.arguments(trace::EventId(0)),
              R"({"Stream":"0x262ca50","datatype":"ncclFloat32","Count":16,"ok":[true,-1.5e3]})");
    EXPECT_EQ(countOf(trace, "unquoted_word"), 2);
    EXPECT_EQ(countOf(trace, "truncated"), 1);
}

// bad-inputs 7
TEST(OddProfiles, TwoWritersOfOneFileAreSuspected) {
    const trace::Trace trace =
        annotatedText("[" + kernel("a", 0, 1) + R"(,{"name": "Memory: gpu/5", "cat": "Dev    )" +
                      kernel("b", 5, 1) + "]");
    EXPECT_EQ(trace.eventCount(), 2U);
    ASSERT_NE(trace.diagnostics().find("damaged_event"), nullptr);
    EXPECT_NE(trace.diagnostics().find("damaged_event")->example.find("two programs"),
              std::string::npos);
}

// bad-inputs 17
TEST(OddProfiles, SmallOverlapsAndEmptyKernelsAreNoError) {
    const trace::Trace trace = annotatedText(
        list({kernel("a", 0, 0.100), kernel("b", 0.0999, 0.0501), kernel("c", 0.12, 0)}));
    EXPECT_EQ(trace.eventCount(), 3U);
    EXPECT_EQ(trace.event(trace::EventId(1)).span.begin.ns, 100);  // 99.9 ns
    EXPECT_EQ(countOf(trace, "impossible_duration"), 0);
}

// bad-inputs 29
TEST(OddProfiles, CollectivesWithinGraphsAreKnownByTheirKernels) {
    const trace::Trace trace = annotatedText(
        list({launch(0, 5), kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10, 5,
                                   R"({"correlation":5,"graph id":1,"graph node id":12})")}));
    ASSERT_EQ(trace.annotations().transfers.size(), 1U);
    const trace::Transfer& found = trace.annotations().transfers[TransferId(0)];
    EXPECT_EQ(found.operation, trace::Operation::AllReduce);
    EXPECT_FALSE(found.group.valid());
}

// bad-inputs 49
TEST(OddProfiles, WorkOfAnUnknownDeviceIsCounted) {
    const trace::Trace trace = annotatedText(
        list({R"({"ph":"X","cat":"hpu_op","name":"job","pid":0,"tid":7,"ts":1,"dur":1})",
              R"({"ph":"X","cat":"hpu_runtime","name":"run","pid":9,"tid":9,"ts":0,"dur":1})"}));
    EXPECT_EQ(trace.eventCount(), 2U);
    EXPECT_EQ(countOf(trace, "unknown_accelerator"), 1);
}

TEST(OddProfiles, WorkOfMtiaIsDeviceWork) {
    const trace::Trace trace = annotatedText(list(
        {R"({"ph":"X","cat":"mtia_runtime","name":"run","pid":9,"tid":9,"ts":0,"dur":1})",
         R"({"ph":"X","cat":"mtia_ccp_events","name":"fc","pid":0,"tid":7,"ts":1,"dur":1})",
         R"({"ph":"X","cat":"mtia_ccp_events","name":"hccl_all_reduce","pid":0,"tid":7,"ts":3,"dur":1})"}));
    EXPECT_EQ(countOf(trace, "unknown_accelerator"), 0);
    ASSERT_EQ(trace.annotations().transfers.size(), 1U);
    EXPECT_EQ(trace.annotations().transfers[TransferId(0)].operation, trace::Operation::AllReduce);
}

// bad-inputs 58
TEST(OddProfiles, LaunchesBehindTheDevicesRecordingAreSaid) {
    const trace::Trace trace =
        annotatedText(list({launch(0, 1), kernel("gemm", 1, 5, R"({"correlation":1})"),
                            launch(10, 2), launch(12, 3)}));
    EXPECT_EQ(countOf(trace, "launch_without_work"), 2);
    ASSERT_EQ(countOf(trace, "device_recording_ended"), 1);
    EXPECT_NE(trace.diagnostics().find("device_recording_ended")->example.find("last 2 launches"),
              std::string::npos);
    // One in the middle is no end.
    const trace::Trace middle = annotatedText(
        list({launch(0, 1), launch(1, 2), kernel("gemm", 1, 5, R"({"correlation":2})")}));
    EXPECT_EQ(countOf(middle, "launch_without_work"), 1);
    EXPECT_EQ(countOf(middle, "device_recording_ended"), 0);
}

// Two ranks; the second's recording begins so many collectives later.
trace::Trace twoRanks(int missing, bool numbered, const std::string& group = "0") {
    const test::TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < 2; ++rank) {
        std::vector<std::string> events;
        double time = 0;
        for (int i = 0; i < 12; ++i) {
            time += 1'000 + 130 * ((i * 7) % 11);
            if (rank == 1 && i < missing) continue;
            // The middle ones say nothing of themselves, as coalesced ones do (42).
            const bool silent = i % 3 == 2 || group.empty();
            events.push_back(kernel(
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL", time - 50 - 10 * rank, 50 + 10 * rank,
                silent
                    ? "{}"
                    : fmt::format(
                          R"({{"Collective name":"allreduce","Process Group Name":"{}","Group size":2{}}})",
                          group, numbered ? fmt::format(",\"Seq\":{}", i) : "")));
        }
        const auto file = folder.file(fmt::format("rank{}.json", rank));
        test::writeBytes(file, "{\"traceEvents\":" + list(events) +
                                   fmt::format(",\"distributedInfo\":{{\"rank\":{}}}}}", rank));
        files.push_back(file);
    }
    const auto imported = importers::importTraces(files);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate(*imported).value();
}

// Matches whose members did not end together.
int wrongMatches(const trace::Trace& trace) {
    int wrong = 0;
    for (const trace::Match& match : trace.annotations().matches) {
        const auto endOf = [&](TransferId id) {
            return trace.annotations().transfers[id].span.end;
        };
        wrong += endOf(match.members.front()) == endOf(match.members.back()) ? 0 : 1;
    }
    return wrong;
}

// bad-inputs 42, 43
TEST(OddProfiles, ARecordingThatBeginsLaterIsMatchedRightly) {
    for (const bool numbered : {true, false}) {
        for (const int missing : {0, 1, 3}) {
            const trace::Trace trace = twoRanks(missing, numbered);
            EXPECT_EQ(trace.annotations().matches.size(), 12U - static_cast<unsigned>(missing));
            EXPECT_EQ(wrongMatches(trace), 0) << numbered << missing;
            EXPECT_EQ(countOf(trace, "unmatched_transfer"), missing);
            EXPECT_EQ(countOf(trace, "order_unsure"), 0);
        }
        EXPECT_GT(countOf(twoRanks(3, numbered), "order_shifted"), 0);
    }
    EXPECT_EQ(wrongMatches(twoRanks(2, false, "")), 0);
}

// A number that is none of a rank's is none at all.
TEST(OddProfiles, NumbersTooLargeForARankAreUnknown) {
    const std::string text =
        R"({"traceEvents":[)" +
        kernel("ncclDevKernel_SendRecv", 0, 1,
               R"({"Collective name":"send","Dst Rank":4294967297,"Process Group Name":"0"})") +
        R"(],"distributedInfo":{"rank":4294967299}})";
    const trace::Trace trace = annotatedText(text);
    EXPECT_EQ(trace.annotations().transfers[TransferId(0)].peer, -1);
    EXPECT_EQ(countOf(trace, "rank_guessed"), 1);
}

TEST(OddProfiles, ManyGroupsAreCountedOnce) {
    std::vector<std::string> events;
    for (int i = 0; i < 30'000; ++i)
        events.push_back(
            kernel("ncclDevKernel_AllReduce_Sum", i, 1,
                   fmt::format(R"({{"Collective name":"allreduce","Comms Id":{}}})", i)));
    EXPECT_EQ(annotatedText(list(events)).annotations().groups.size(), 30'000U);
}

}  // namespace
}  // namespace pleat::annotate
