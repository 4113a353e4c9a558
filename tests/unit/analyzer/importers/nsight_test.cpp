// Nsight exports made by hand, one oddity each; the numbers are rows of shared/bad-inputs.md.
#include "importers/nsight.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "support/temporary_folder.h"
#include "unit/analyzer/importers/imported_trace.h"
#include "unit/store/sqlite_client.h"

namespace pleat::importers {
namespace {

using test::ImportedTrace;
using trace::EventFlag;

constexpr std::int64_t kHost = std::int64_t{1} << 48;

std::int64_t global(std::int64_t pid, std::int64_t tid = 0) {
    return kHost + pid * 0x1000000 + tid;
}

constexpr const char* kTables = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'), (2,'gemm'), (3,'cudaMemcpyAsync_v3020'),
  (4,'ncclDevKernel_SendRecv(x)'), (5,'cudaGraphLaunch_v10000'), (6,'step'), (7,'cuLaunchKernel'),
  (8,'worker'), (9,'NCCL'), (10,'cudaLaunchHostFunc_v10000'), (11,'ncclSend');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, eventSyncId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
  int64Value INTEGER, jsonText TEXT, binaryData TEXT);
)";

class Nsight : public ::testing::Test {
  protected:
    void SetUp() override { sql(kTables); }
    void sql(const std::string& statements) { test::executeSql(m_file, statements); }
    void call(std::int64_t start, std::int64_t thread, int correlation, int name, int type = 0) {
        sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({},{},{},{},{},{})", start,
                        start + 5, type, thread, correlation, name));
    }
    void kernel(std::int64_t start, std::int64_t end, std::int64_t pid, int correlation,
                int name = 2, int device = 0, const std::string& node = "NULL") {
        sql(fmt::format(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({},{},{},1,7,{},{},{},{},{})", start,
            end, device, correlation, global(pid), name, name, node));
    }
    // `more`: text, globalTid, endGlobalTid, textId, domainId as SQL.
    void nvtx(int type, const std::string& start, const std::string& end, const std::string& more,
              const std::string& payload = "NULL,NULL,NULL") {
        sql(fmt::format("INSERT INTO NVTX_EVENTS VALUES ({},{},{},{},{})", start, end, type, more,
                        payload));
    }
    ImportedTrace import() { return ImportedTrace::ofNsight(m_file); }

    test::TemporaryFolder m_folder;
    std::filesystem::path m_file = m_folder.file("export.sqlite");
};

TEST_F(Nsight, JoinsLaunchesWithinOneProcessOnly) {  // bad-inputs 24, 25
    call(100, global(10, 11), 7, 1);
    call(200, global(20, 21), 7, 3);
    kernel(300, 400, 10, 7);
    kernel(300, 450, 20, 7, 4);
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.launchesOf(trace.only("gemm")),
              std::vector<std::string>{"cudaLaunchKernel_v7000"});
    EXPECT_EQ(trace.launchesOf(trace.only("ncclDevKernel_SendRecv(x)")),
              std::vector<std::string>{"cudaMemcpyAsync_v3020"});
    ASSERT_EQ(trace.trace().ranks().size(), 2U);
    EXPECT_EQ(trace.rankOf(trace.only("gemm")).pid, 10);
    EXPECT_EQ(trace.laneOf(trace.only("cudaLaunchKernel_v7000")).nativeId, 11);
    EXPECT_EQ(trace.trace().arguments(trace.only("gemm")), "");
    EXPECT_EQ(trace.trace().arguments(trace.only("ncclDevKernel_SendRecv(x)")),
              "{\"correlation\":7}");
    EXPECT_EQ(trace.trace().event(trace.only("cudaLaunchKernel_v7000")).span.begin.ns, 0);
    EXPECT_EQ(trace.count("work_without_launch") + trace.count("launch_without_work"), 0);
}

TEST_F(Nsight, KeepsTwoProcessesOnOneDeviceApart) {  // bad-inputs 64
    kernel(300, 400, 10, 7, 2, 1);
    kernel(310, 410, 20, 8, 4, 1);
    const ImportedTrace trace = import();
    EXPECT_NE(trace.trace().event(trace.only("gemm")).lane,
              trace.trace().event(trace.only("ncclDevKernel_SendRecv(x)")).lane);
    for (const trace::Rank& rank : trace.trace().ranks()) {
        EXPECT_EQ(rank.device, "cuda:1");
        EXPECT_EQ(rank.number, -1);
    }
    EXPECT_EQ(trace.count("work_without_launch"), 2);
}

TEST_F(Nsight, OneGraphLaunchHasManyKernels) {  // bad-inputs 26, 29
    call(100, global(10, 10), 9, 5);
    for (int i = 0; i < 31; ++i) kernel(200, 210, 10, 9, 2, 0, std::to_string(i));
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.events("kernel").size(), 31U);
    for (const trace::EventId kernel : trace.events("kernel"))
        EXPECT_EQ(trace.launchesOf(kernel), std::vector<std::string>{"cudaGraphLaunch_v10000"});
    EXPECT_EQ(trace.count("duplicate_row"), 0);
}

TEST_F(Nsight, KeepsAGraphRecordedAsOneWhole) {
    sql("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, graphId)");
    call(100, global(10, 10), 9, 5);
    sql(fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (200, 900, 0, 1, 7, 9, {}, 4)",
        global(10)));
    const ImportedTrace trace = import();
    const trace::EventId graph = trace.only("CUDA graph 4");
    EXPECT_EQ(trace.trace().domain(graph), "gpu_graph");
    EXPECT_EQ(trace.trace().event(graph).span.length().ns, 700);
    EXPECT_EQ(trace.launchesOf(graph).size(), 1U);
    EXPECT_EQ(trace.count("graph_as_whole"), 1);
    EXPECT_EQ(trace.count("launch_without_work"), 0);
}

TEST_F(Nsight, ARuntimeCallAndItsDriverCallAreOneLaunch) {
    call(101, global(10, 10), 7, 7, 1);
    call(100, global(10, 10), 7, 1, 0);
    call(300, global(10, 10), 8, 7, 1);
    call(300, global(10, 10), 8, 1, 0);
    call(400, global(10, 10), 9, 10);
    kernel(200, 210, 10, 7);
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.launchesOf(trace.only("gemm")),
              std::vector<std::string>{"cudaLaunchKernel_v7000"});
    EXPECT_EQ(trace.events("cuda_driver").size(), 2U);
    EXPECT_EQ(trace.count("launch_without_work"), 1) << "58: two calls, one launch";
}

TEST_F(Nsight, LeavesUntimedWorkOut) {  // bad-inputs 11
    call(100, global(10, 10), 7, 1);
    call(110, global(10, 10), 8, 1);
    call(120, global(10, 10), 9, 1);
    kernel(0, 0, 10, 7);
    kernel(500, 400, 10, 8);
    kernel(300, 400, 10, 9);
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.events("kernel").size(), 1U);
    EXPECT_EQ(trace.events("cuda_runtime").size(), 3U);
    EXPECT_EQ(trace.count("untimed_device_work"), 2);
    EXPECT_EQ(trace.count("launch_without_work"), 0) << "its work is known, only not when";
    EXPECT_EQ(trace.trace().span().length().ns, 300);
}

TEST_F(Nsight, LeavesOutTimesThatAreNone) {
    kernel(100, 200, 10, 7);
    kernel(std::numeric_limits<std::int64_t>::min(), 200, 10, 8);
    kernel(150, std::numeric_limits<std::int64_t>::max(), 10, 9);
    nvtx(59, "-9223372036854775808", "9223372036854775807",
         fmt::format("'x',{},NULL,NULL,0", global(10, 10)));
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.trace().eventCount(), 1U);
    EXPECT_EQ(trace.count("untimed_device_work"), 2);
    EXPECT_EQ(trace.count("untimed_range"), 1);
    EXPECT_EQ(trace.trace().span().length().ns, 100);
}

TEST_F(Nsight, DropsRowsWrittenTwice) {  // bad-inputs 31
    for (int i = 0; i < 2; ++i) {
        call(100, global(10, 10), 7, 1);
        kernel(200, 300, 10, 7);
    }
    kernel(200, 301, 10, 7);
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.events("kernel").size(), 2U);
    EXPECT_EQ(trace.events("cuda_runtime").size(), 1U);
    EXPECT_EQ(trace.count("duplicate_row"), 2);
}

TEST_F(Nsight, CopiesSayHowMuchAndWhere) {
    sql(
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2,0,1,7,3,{0},4096,1), "
                    "(3,4,0,1,7,4,{0},8,10), (5,6,0,1,7,5,{0},9,99)",
                    global(10)));
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.trace().arguments(trace.only("Memcpy HtoD")),
              "{\"bytes\":4096,\"copy_kind\":\"h2d\"}");
    EXPECT_EQ(trace.trace().arguments(trace.only("Memcpy PtoP")),
              "{\"bytes\":8,\"copy_kind\":\"p2p\"}");
    EXPECT_EQ(trace.trace().arguments(trace.only("Memcpy")),
              "{\"bytes\":9,\"copy_kind\":\"unknown\"}");
}

TEST_F(Nsight, WaitsAreNoWorkAndStandOnTheirContextsDevice) {  // bad-inputs 33
    call(100, global(10, 10), 7, 1);
    call(150, global(10, 10), 8, 3);
    kernel(200, 300, 10, 7, 2, 1);
    sql(fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (210,290,0,1,7,8,{0},3,0), "
        "(220,240,0,1,4294967295,NULL,{0},1,5)",
        global(10)));
    const ImportedTrace trace = import();
    const trace::EventId wait = trace.only("Stream Sync");
    EXPECT_EQ(trace.trace().domain(wait), "cuda_sync");
    EXPECT_EQ(trace.laneOf(wait).name, "cuda:1 stream 7");
    EXPECT_EQ(trace.launchesOf(wait).size(), 0U);
    ASSERT_EQ(trace.trace().dependenciesOf(wait).size(), 1U);
    EXPECT_EQ(trace.trace().dependenciesOf(wait)[0].kind, trace::DependencyKind::Flow);
    EXPECT_EQ(trace.laneOf(trace.only("Event Sync")).name, "cuda:1 waits");
    EXPECT_EQ(trace.laneOf(trace.only("Event Sync")).nativeId, -1);
    EXPECT_EQ(trace.count("work_without_launch"), 0);
}

TEST_F(Nsight, StartEndRangesOverlapAndEndOnOtherThreads) {  // bad-inputs 61
    const std::string main = std::to_string(global(10, 10)), other = std::to_string(global(10, 12));
    nvtx(59, "100", "200", fmt::format("'push',{},NULL,NULL,0", main));
    nvtx(60, "150", "250", fmt::format("'start',{},{},NULL,0", main, other));
    nvtx(60, "160", "170", fmt::format("'same',{},{},NULL,0", main, main));
    nvtx(34, "180", "NULL", fmt::format("NULL,{},NULL,6,0", main));
    const ImportedTrace trace = import();
    const auto& events = trace.trace();
    EXPECT_EQ(events.eventCount(), 4U);
    EXPECT_EQ(events.event(trace.only("push")).span.length().ns, 100);
    EXPECT_EQ(events.event(trace.only("start")).span.length().ns, 100);
    EXPECT_EQ(events.arguments(trace.only("start")), "{\"end_thread\":12}");
    EXPECT_EQ(events.arguments(trace.only("same")), "");
    EXPECT_EQ(events.event(trace.only("step")).kind, trace::EventKind::Mark);
    EXPECT_FALSE(events.event(trace.only("push")).domain.valid()) << "the default domain";
    EXPECT_EQ(trace.laneOf(trace.only("start")).nativeId, 10);
}

TEST_F(Nsight, RangesMayBeginBeforeTheCaptureAndStayOpen) {
    const std::string thread = std::to_string(global(10, 10));
    call(900, global(10, 10), 7, 3);
    nvtx(59, "-50", "100", fmt::format("'early',{},NULL,NULL,0", thread));
    nvtx(60, "200", "NULL", fmt::format("'open',{},NULL,NULL,0", thread));
    nvtx(60, "300", "NULL", fmt::format("'alone',{},NULL,NULL,0", global(10, 99)));
    const ImportedTrace trace = import();
    const auto early = trace.trace().event(trace.only("early"));
    EXPECT_EQ(early.span, (base::Interval{{0}, {150}}));
    const auto open = trace.trace().event(trace.only("open"));
    EXPECT_EQ(open.flag, EventFlag::OpenAtEnd);
    EXPECT_EQ(open.span, (base::Interval{{250}, {955}}));
    EXPECT_TRUE(trace.trace().event(trace.only("alone")).span.empty());
    EXPECT_EQ(trace.count("range_before_capture"), 1);
    EXPECT_EQ(trace.count("open_range"), 2);
}

TEST_F(Nsight, NormalisedTimesAreUtc) {
    const std::string thread = std::to_string(global(10, 10));
    sql("CREATE TABLE META_DATA_EXPORT (name, value);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true');"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779782330176752435);");
    nvtx(59, "1779782330176752434", "1779782330176752440",
         fmt::format("'early',{},NULL,NULL,0", thread));
    nvtx(59, "1779782330176752435", "1779782330176752437",
         fmt::format("'in time',{},NULL,NULL,0", thread));
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.trace().event(trace.only("in time")).span, (base::Interval{{1}, {3}}));
    EXPECT_EQ(trace.count("range_before_capture"), 1);
}

TEST_F(Nsight, DomainsHaveNamesPerProcess) {
    nvtx(59, "100", "200", fmt::format("'a',{},NULL,NULL,1", global(10, 10)));
    nvtx(59, "100", "200", fmt::format("'b',{},NULL,NULL,1", global(20, 20)));
    nvtx(59, "100", "200", fmt::format("'c',{},NULL,NULL,2", global(20, 20)));
    nvtx(75, "1", "NULL", fmt::format("'pleat',{},NULL,NULL,1", global(10, 15)));
    nvtx(75, "1", "NULL", fmt::format("NULL,{},NULL,9,1", global(20, 25)));
    nvtx(33, "1", "NULL", fmt::format("'category',{},NULL,NULL,1", global(20, 25)));
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.trace().eventCount(), 3U);
    EXPECT_EQ(trace.trace().domain(trace.only("a")), "pleat");
    EXPECT_EQ(trace.trace().domain(trace.only("b")), "NCCL");
    EXPECT_EQ(trace.trace().domain(trace.only("c")), "domain 2");
    EXPECT_EQ(trace.count("domain_guessed"), 1);
    EXPECT_EQ(trace.count("nccl_payload_missing"), 1);
    EXPECT_EQ(trace.count("nvtx_event_ignored"), 0);
    EXPECT_EQ(trace.trace().span().length().ns, 100) << "a domain's row is no event";
}

// Little-endian 64-bit words as an SQL blob.
std::string blob(const std::vector<std::uint64_t>& words) {
    std::string text;
    for (const std::uint64_t word : words) {
        for (int byte = 0; byte < 8; ++byte)
            text += fmt::format("{:02x}", (word >> (8 * byte)) & 0xff);
    }
    return text;
}

TEST_F(Nsight, ReadsPayloads) {
    sql(R"(
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, flags, type, name, description,
  arrayOrUnionDetail, offset);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES
  (1,16777226,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL),
  (1,16777226,1,NULL,22,'Message size [bytes]',NULL,NULL,8),
  (1,16777226,2,NULL,5,'Peer rank',NULL,NULL,16),
  (1,16777223,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL),
  (1,16777223,1,NULL,16777232,'Reduction operation',NULL,NULL,8),
  (1,16777223,2,NULL,5,'Root',NULL,NULL,999),
  (2,5,0,NULL,15,'micro"batch',NULL,NULL,0),
  (2,5,1,16,1,'operation',NULL,8,8);)");
    const std::string where = fmt::format("NULL,{},NULL,11,1", global(10, 10));
    const std::string send = blob({1, 16777226, 24, 56, 0xffff'ffff'ffff'ffff, 4096, 0xffff'ffff});
    nvtx(59, "1", "2", where, "NULL,NULL,x'" + send + "'");
    nvtx(59, "3", "4", where, "NULL,NULL,'" + send + "'");
    nvtx(59, "5", "6", where, "NULL,NULL,x'" + blob({1, 16777223, 16, 32, 7, 4}) + "'");
    nvtx(59, "7", "8", where, "NULL,'{\"p\":{\"Peer rank\":3,\"NCCL communicator ID\":12}}',NULL");
    nvtx(59, "9", "10", where, "NULL,'{broken',x'0102'");
    nvtx(59, "11", "12", where, "-8,NULL,NULL");
    nvtx(59, "13", "14", fmt::format("NULL,{},NULL,11,2", global(10, 10)),
         "NULL,NULL,x'" + blob({2, 5, 16, 32, 6, 0x646e6573}) + "'");
    const ImportedTrace trace = import();
    std::vector<std::string> arguments;
    for (const trace::EventId id : trace.events(""))
        arguments.emplace_back(trace.trace().arguments(id));
    const std::string sent = "{\"comms_id\":\"18446744073709551615\",\"bytes\":4096,\"peer\":-1}";
    EXPECT_EQ(arguments,
              (std::vector<std::string>{sent, sent, "{\"comms_id\":\"7\",\"reduction\":\"avg\"}",
                                        "{\"peer\":3,\"comms_id\":\"12\"}", "", "{\"payload\":-8}",
                                        "{\"micro\\\"batch\":6,\"operation\":\"send\"}"}));
    EXPECT_EQ(trace.trace().domain(trace.events("")[0]), "NCCL") << "from its payloads";
    EXPECT_EQ(trace.count("nccl_payload_missing"), 0);
}

TEST_F(Nsight, SaysWhichSectionsAreMissing) {  // bad-inputs 62
    sql("ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V2; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;"
        "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;");
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.trace().eventCount(), 0U);
    for (const char* key : {"nvtx", "copies", "kernels", "calls", "waits", "devices"}) {
        const auto* found =
            trace.trace().diagnostics().find(fmt::format("section_missing_{}", key));
        ASSERT_NE(found, nullptr) << key;
        EXPECT_EQ(found->severity, base::Severity::Info);
    }
    EXPECT_NE(
        trace.trace().diagnostics().find("section_missing_nvtx")->example.find("NVTX_EVENTS_V2"),
        std::string::npos);
}

TEST_F(Nsight, ImportsWithoutSomeColumns) {
    call(100, global(10, 10), 7, 1);
    sql("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, correlationId, shortName);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 300, 7, 2);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (end, bytes);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (200, 300);");
    const ImportedTrace trace = import();
    EXPECT_EQ(trace.launchesOf(trace.only("gemm")).size(), 1U)
        << "there is only one process it could be of";
    EXPECT_EQ(trace.count("column_missing_kernels"), 1);
    EXPECT_EQ(trace.count("section_unreadable_copies"), 1);
    EXPECT_EQ(trace.count("process_guessed"), 1);
}

TEST_F(Nsight, ImportsWithoutNames) {
    sql("DROP TABLE StringIds");
    call(100, global(10, 10), 7, 1);
    const ImportedTrace trace = import();
    EXPECT_TRUE(trace.only("string 1").valid());
    EXPECT_EQ(trace.count("name_missing"), 1);
    EXPECT_EQ(trace.count("section_missing_strings"), 1);
}

TEST_F(Nsight, ReadsNamesFromATableWithoutAKey) {
    sql("CREATE TABLE copy AS SELECT * FROM StringIds; DROP TABLE StringIds;"
        "ALTER TABLE copy RENAME TO StringIds;");
    kernel(200, 300, 10, 7);
    EXPECT_TRUE(import().only("gemm").valid());
}

TEST_F(Nsight, NamesHostsProgramsThreadsDevicesAndTheRank) {
    kernel(200, 300, 10, 7, 2, 0);
    kernel(210, 310, 10, 8, 4, 1);
    kernel(320, 330, 10, 9, 4, 1);
    call(100, global(10, 11), 7, 1);
    sql(fmt::format(
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, name, value);"
        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ({}, 'Hostname', 'node3');"
        "CREATE TABLE PROCESSES (globalPid, pid, name);"
        "INSERT INTO PROCESSES VALUES ({}, 10, '/usr/bin/python3'), ({}, 12, 'idle');"
        "CREATE TABLE ThreadNames (nameId, priority, globalTid);"
        "INSERT INTO ThreadNames VALUES (8, 20, {});"
        "CREATE TABLE TARGET_INFO_GPU (id, name);"
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 'A'), (4, 'B');"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (4, 1, 10);"
        "CREATE TABLE META_DATA_CAPTURE (name, value);"
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=\"3\"');",
        kHost, global(10), global(12), global(10, 11)));
    const ImportedTrace trace = import();
    ASSERT_EQ(trace.trace().ranks().size(), 1U) << "a process that did nothing is no rank";
    const trace::Rank& rank = trace.rankOf(trace.only("gemm"));
    EXPECT_EQ(rank.host, "node3");
    EXPECT_EQ(rank.program, "python3");
    EXPECT_EQ(rank.device, "cuda:1") << "where it worked most";
    EXPECT_EQ(rank.number, 3);
    EXPECT_EQ(trace.laneOf(trace.only("cudaLaunchKernel_v7000")).name, "worker");
    EXPECT_EQ(trace.laneOf(trace.only("gemm")).name, "cuda:0 stream 7 (A)");
    EXPECT_EQ(trace.laneOf(trace.events("kernel").back()).name, "cuda:1 stream 7 (B)");
}

TEST_F(Nsight, RefusesWhatIsNoExport) {
    EXPECT_TRUE(isNsightExport(m_file));
    const auto other = m_folder.file("other.sqlite");
    test::executeSql(other, "CREATE TABLE x (y)");
    const auto text = m_folder.file("text");
    test::writeBytes(text, "no database, but long enough to be read as the head of one");
    for (const auto& file : {other, text, m_folder.file("absent")}) {
        EXPECT_FALSE(isNsightExport(file));
        trace::TraceBuilder builder;
        const auto imported = importNsight(file, builder);
        ASSERT_FALSE(imported) << file;
        EXPECT_NE(imported.error().message.find(file.string()), std::string::npos);
        EXPECT_EQ(imported.error().message.find('\n'), std::string::npos);
    }
}

// A file cut anywhere is either refused with its name or, cut between pages it does not miss,
// imported; never a crash.
TEST_F(Nsight, RefusesADamagedFile) {
    std::string rows;
    for (int i = 1; i < 2000; ++i)
        rows += fmt::format(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
            "({0},{1},0,1,7,{0},{2},2,2,NULL);",
            10 * i, 10 * i + 5, global(10));
    sql("BEGIN;" + rows + "COMMIT;");
    const std::string whole = test::readBytes(m_file);
    int refused = 0;
    for (std::size_t size = 0; size < whole.size(); size += 3001) {
        test::writeBytes(m_file, whole.substr(0, size));
        trace::TraceBuilder builder;
        const auto imported = importNsight(m_file, builder);
        if (imported) continue;
        ++refused;
        EXPECT_NE(imported.error().message.find(m_file.string()), std::string::npos);
    }
    EXPECT_GT(refused, 20);
    std::string damaged = whole;
    std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(damaged.size() / 2),
              damaged.begin() + static_cast<std::ptrdiff_t>(damaged.size() / 2 + 9000), '\x5a');
    test::writeBytes(m_file, damaged);
    trace::TraceBuilder builder;
    const auto imported = importNsight(m_file, builder);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, base::ErrorCode::Input);
    EXPECT_NE(imported.error().message.find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace pleat::importers
