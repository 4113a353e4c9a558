// The parts of the importers that work on text alone.
#include <gtest/gtest.h>

#include "importers/event_text.h"
#include "importers/kept_arguments.h"
#include "importers/time_text.h"

namespace pleat::importers {
namespace {

TEST(TimeText, MicrosecondsBecomeNanosecondsDigitByDigit) {
    EXPECT_EQ(nanosecondsOf("0"), 0);
    EXPECT_EQ(nanosecondsOf("5.1"), 5'100);
    EXPECT_EQ(nanosecondsOf("1712195495505583.123"), 1'712'195'495'505'583'123);
    EXPECT_EQ(nanosecondsOf("848671.6747283936"), 848'671'675);
    EXPECT_EQ(nanosecondsOf("-0.0005"), -1);
    EXPECT_EQ(nanosecondsOf("\"300\" "), 300'000);
    EXPECT_EQ(nanosecondsOf("1.5e3"), 1'500'000);
    for (const char* wrong : {"", "x", "100a", "\"invalid\"", "1e30", "99999999999999999999", "--1",
                              "null", "\"\"", "."})
        EXPECT_EQ(nanosecondsOf(wrong), std::nullopt) << wrong;
}

TEST(EventText, ObjectsEndWhereTheirBraceCloses) {
    EXPECT_EQ(objectEnd(R"({"a":"}\"}","b":{"c":1}} rest)", 0), 24U);
    EXPECT_EQ(objectEnd(R"({"a":{"b":1})", 0), kNowhere);
    EXPECT_EQ(objectEnd(R"({"a":"x)", 0), kNowhere);
    EXPECT_EQ(objectEnd(R"({"a":"x\)", 0), kNowhere);
}

TEST(EventText, EventsBeginWithAKeyOfEvents) {
    EXPECT_EQ(findEventStart(R"(xx { "ph" : 1)", 0), 3U);
    EXPECT_EQ(findEventStart(R"({"other":1}, {"name":1)", 0), 13U);
    EXPECT_EQ(findEventStart(R"("args": {"name":1})", 0), kNowhere);
    EXPECT_EQ(findEventBoundary(R"({"name":1},{"name":2})", 0), 11U);
    EXPECT_EQ(findEventBoundary("{", 0), kNowhere);
}

TEST(EventText, TextThatEndsEarlyStillReadsLikeJson) {
    const std::string whole = R"({"a":[1,-2.5e3,true,{"b":"c\"d"}],"e":{}})";
    for (std::size_t length = 1; length <= whole.size(); ++length)
        EXPECT_TRUE(readsLikeJson(whole.substr(0, length), 0)) << length;
    for (const char* damaged : {R"({"a":"b"c")", R"({"a":1,{"b")", R"({"a" "b")", R"({"a":1]})",
                                R"({"a":"Dev    {"name")", R"({1)", R"({"a"::)"})
        EXPECT_FALSE(readsLikeJson(damaged, 0)) << damaged;
}

TEST(EventText, RepairedTextIsValidUtf8WithoutControlCharacters) {
    std::string repaired;
    EXPECT_FALSE(repairText("{\"a\": \"\u00e4\\\"\"}\n", repaired).any());
    const Repairs repairs = repairText("{\"\x01\xff\": \"a\nb\"}", repaired);
    EXPECT_EQ(repaired, "{\"\\u0001\uFFFD\": \"a\\u000ab\"}");
    EXPECT_EQ(repairs.controlCharacters, 2U);
    EXPECT_EQ(repairs.invalidUtf8, 1U);
}

TEST(KeptArguments, WhatAnalysesNeedIsKept) {
    const auto kept = [](char phase, const char* category, const char* name,
                         const char* arguments) {
        std::string text;
        EXPECT_FALSE(
            appendKeptArguments(phase, CategoryTraits(category), NameTraits(name), arguments, text)
                .tooLarge);
        return text;
    };
    EXPECT_EQ(kept('X', "kernel", "gemm", R"({"grid":[1,2]})"), "");
    EXPECT_EQ(kept('X', "gpu_memcpy", "copy", R"({"stream":7, "bytes": 12, "x":1})"),
              R"({"bytes":12})");
    EXPECT_EQ(kept('X', "kernel", "ncclDevKernel_AllReduce", "{\n \"Seq\": 3\n}"), R"({"Seq":3})");
    EXPECT_EQ(kept('X', "forward-compute", "f", R"({"step": 3, "t": "a b"})"),
              R"({"step":3,"t":"a b"})");
    EXPECT_EQ(kept('X', "cuda_sync", "Event Sync",
                   R"({"wait_on_stream": 7, "wait_on_cuda_event_id": 8, "stream": -1, )"
                   R"("wait_on_cuda_event_record_corr_id": 1533, "correlation": 1536})"),
              R"({"correlation":1536,"wait_on_stream":7,)"
              R"("wait_on_cuda_event_record_corr_id":1533})");
    EXPECT_EQ(kept('X', "cuda_runtime", "cudaEventRecord", R"({"cbid":135,"correlation":3})"),
              R"({"correlation":3})");
    EXPECT_EQ(kept('X', "cuda_runtime", "cudaEventQuery", R"({"cbid":138,"correlation":3})"), "");
    EXPECT_EQ(correlationOf(CategoryTraits("kernel"), R"({"x":"correlation","correlation": 77})"),
              77U);
    EXPECT_EQ(correlationOf(CategoryTraits("cpu_op"), R"({"correlation": 77})"), 0U);
    EXPECT_EQ(correlationOf(CategoryTraits("Kernel"), R"({"correlation": 99999999999})"), 0U);
}

}  // namespace
}  // namespace pleat::importers
