#include "report/event_csv.h"

#include <gtest/gtest.h>

#include "exported_traces.h"

namespace pleat::report {
namespace {

std::string write(const trace::Trace& trace) {
    std::string result;
    EXPECT_TRUE(writeEventCsv(trace, [&](std::string_view text) {
        result += text;
        return base::Result<void>();
    }));
    return result;
}

const std::string kHead =
    "rank,lane,thread,domain,name,start_ns,duration_ns,iteration,stage,chunk,microbatch,kind,"
    "dimension,bytes\r\n";

// Rows of fields, as RFC 4180 reads them.
std::vector<std::vector<std::string>> read(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            rows.back().back() += text[i++];
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && text[i] == ',') {
            rows.back().emplace_back();
        } else if (!quoted && text.compare(i, 2, "\r\n") == 0) {
            rows.emplace_back(1);
            ++i;
        } else {
            rows.back().back() += text[i];
        }
    }
    rows.pop_back();  // after the last line's end
    return rows;
}

TEST(EventCsv, OfASmallTrace) {
    EXPECT_EQ(write(testing::smallTrace()),
              kHead +
                  "0,1,main,pleat.task,0F0,1000000,500250,0,0,0,0,F,,\r\n"
                  "0,1,main,cuda_runtime,cudaLaunchKernel,1000100,9900,,,,,,,\r\n"
                  "0,1,main,pleat.transfer,0SEND_F0,1500250,199750,0,,,0,send,pp,4096\r\n"
                  "0,1,main,,\"step,\n\"\"end\"\"\",1600000,,,,,,,,\r\n"
                  "0,2,stream 7,kernel,\"gemm<\"\"f16\"\", 4>\",1020000,380000,,,,,,,\r\n"
                  "1,3,main,pleat.transfer,1RECV_F0,1200000,500000,0,,,0,recv,pp,4096\r\n"
                  "1,3,main,,grads,1300000,600001,,,,,,,\r\n"
                  ",5,thread 4711,,run,1000000,1000000,,,,,,,\r\n");
}

TEST(EventCsv, OfNothingIsItsHead) { EXPECT_EQ(write(trace::TraceBuilder().build().trace), kHead); }

TEST(EventCsv, OfAnythingHasARowPerEventAndAllColumns) {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        const trace::Trace trace = testing::RandomTraces(seed).make();
        const auto rows = read(write(trace));
        ASSERT_EQ(rows.size(), trace.eventCount() + 1);
        for (std::size_t i = 0; i < trace.eventCount(); ++i) {
            ASSERT_EQ(rows[i + 1].size(), 14u);
            const trace::Event event = trace.event(trace::EventId::at(i));
            EXPECT_EQ(rows[i + 1][5], std::to_string(event.span.begin.ns));
        }
    }
}

TEST(EventCsv, HandsOnTheSinksError) {
    const auto written = writeEventCsv(testing::smallTrace(), [](std::string_view) {
        return base::Result<void>(base::Error{base::ErrorCode::Io, "full"});
    });
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "full");
}

}  // namespace
}  // namespace pleat::report
