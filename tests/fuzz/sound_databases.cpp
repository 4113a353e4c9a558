#include "fuzz/sound_databases.h"

#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "annotate/annotate.h"
#include "fuzz/properties.h"
#include "schedule/generators.h"
#include "store/writer.h"
#include "support/synthetic_run.h"
#include "support/temporary_folder.h"

namespace pleat::fuzz {
namespace {

// Rows refer to two processes (10 and 20) on one host; a domain "pleat" makes tasks of ranges.
constexpr const char* kExport = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'), (2,'gemm'), (3,'cudaMemcpyAsync_v3020'),
  (4,'ncclDevKernel_SendRecv(x)'), (5,'cudaGraphLaunch_v10000'), (6,'0F0'), (7,'cuLaunchKernel'),
  (8,'worker'), (9,'NCCL'), (10,'{"iteration":0,"microbatch":0}'), (11,'ncclSend'), (12,'pleat');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100,105,0,281474976710656+167772170,7,1),
  (101,104,1,281474976710656+167772170,7,7), (120,125,0,281474976710656+167772170,8,3),
  (130,135,0,281474976710656+335544340,9,5);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
  globalPid, demangledName, shortName, mangledName, graphNodeId, gridId);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (200,300,0,1,7,7,281474976710656+167772160,2,2,2,NULL,1),
  (210,310,1,1,7,9,281474976710656+335544320,4,4,4,3,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId,
  globalPid, copyKind, bytes, graphNodeId);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
  (310,320,0,1,7,8,281474976710656+167772160,1,4096,NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, correlationId,
  globalPid, bytes, graphNodeId);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES
  (330,340,0,1,7,11,281474976710656+167772160,4096,NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId,
  correlationId, globalPid, graphId, graphExecId);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES
  (350,400,0,1,7,9,281474976710656+167772160,4,5);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId,
  correlationId, globalPid, syncType, eventSyncId);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES
  (410,420,0,1,7,8,281474976710656+167772160,1,NULL),
  (410,420,0,1,4294967295,8,281474976710656+167772160,2,6);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId, domainId,
  jsonText, jsonTextId, binaryData, uint64Value, int64Value, uint32Value, int32Value, doubleValue,
  floatValue);
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId, domainId,
  jsonText, jsonTextId, binaryData, int64Value) VALUES
  (1,NULL,75,'pleat',281474976710656+167772170,NULL,NULL,1,NULL,NULL,NULL,NULL),
  (1,NULL,75,NULL,281474976710656+335544340,NULL,12,1,NULL,NULL,NULL,NULL),
  (90,500,59,'iteration',281474976710656+167772170,NULL,NULL,1,'{"iteration":0}',NULL,NULL,NULL),
  (90,500,59,'iteration',281474976710656+335544340,NULL,NULL,1,'{"iteration":0}',NULL,NULL,NULL),
  (100,200,59,NULL,281474976710656+167772170,NULL,6,1,NULL,10,NULL,NULL),
  (210,300,59,'0B0',281474976710656+167772170,NULL,NULL,1,'{"iteration":0}',NULL,NULL,NULL),
  (200,290,59,'1F0',281474976710656+335544340,NULL,NULL,1,'{"iteration":0}',NULL,NULL,NULL),
  (290,390,59,'1B0',281474976710656+335544340,NULL,NULL,1,'{"iteration":0}',NULL,NULL,NULL),
  (95,96,34,'rank',281474976710656+167772170,NULL,NULL,1,'{"rank":0,"pp":0,"dp":0}',NULL,NULL,7),
  (300,NULL,60,NULL,281474976710656+335544340,281474976710656+335544341,11,2,NULL,NULL,
   x'02000000000000000500000000000000100000000000000020000000000000000600000000000000646e657300000000',
   NULL);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, flags, type, name, offset,
  arrayOrUnionDetail);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (2,5,0,NULL,18,'NCCL communicator ID',0,NULL),
  (2,5,1,16,1,'operation',8,8), (2,5,2,NULL,16777232,'Reduction operation',4,NULL);
CREATE TABLE NVTX_PAYLOAD_ENUM_ENTRIES (domainId, schemaId, name, value);
INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES VALUES (2,16777232,'Sum',0);
CREATE TABLE META_DATA_EXPORT (name, value);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE','true');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (95);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, name, value);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (281474976710656,'Hostname','node3');
CREATE TABLE PROCESSES (globalPid, pid, name);
INSERT INTO PROCESSES VALUES (281474976710656+167772160,10,'/usr/bin/python3');
CREATE TABLE ThreadNames (nameId, priority, globalTid);
INSERT INTO ThreadNames VALUES (8,0,281474976710656+167772170);
CREATE TABLE TARGET_INFO_GPU (id, name);
INSERT INTO TARGET_INFO_GPU VALUES (3,'NVIDIA H200');
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);
INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3,0,10);
CREATE TABLE META_DATA_CAPTURE (name, value);
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE','RANK="3"');
)";

constexpr const char* kLoosen = R"(
pragma journal_mode = delete;
pragma writable_schema = on;
update sqlite_schema set sql = replace(replace(replace(sql, ') strict, without rowid',
  ') without rowid'), ') strict', ')'), ' not null', '');
pragma writable_schema = reset;
pragma page_size = 1024;
vacuum;
)";

std::string changed(const std::filesystem::path& file, const char* sql) {
    sqlite3* database = nullptr;
    require(sqlite3_open(file.c_str(), &database) == SQLITE_OK, "a sound database can be made");
    executeOn(database, sql);
    sqlite3_close(database);
    return test::readBytes(file);
}

std::string makeRecording() {
    testing::SyntheticOptions options;
    options.schedule = *schedule::makeSchedule("1f1b", {2, 2, 1, 0});
    options.iterations = 2;
    options.forward = {{1'000}};
    options.backward = {{2'000}};
    const auto trace = annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options)));
    const std::filesystem::path file = scratchFile("sound.pleat");
    removeDatabase(file);
    const auto written = store::writeTrace(*trace, file);
    require(written.ok(), "a sound recording can be made");
    return changed(file, kLoosen);
}

}  // namespace

void executeOn(sqlite3* database, const char* sql) {
    char* message = nullptr;
    sqlite3_exec(database, sql, nullptr, nullptr, &message);
    const std::string said = message == nullptr ? "" : message;
    sqlite3_free(message);
    require(said.empty(), "SQL of the fuzzer's own runs: " + said);
}

const std::string& soundRecording() {
    static const std::string bytes = makeRecording();
    return bytes;
}

const std::string& soundExport() {
    static const std::string bytes = [] {
        const std::filesystem::path file = scratchFile("sound.sqlite");
        removeDatabase(file);
        const std::string made =
            std::string("pragma page_size = 1024; begin;") + kExport + "commit;";
        return changed(file, made.c_str());
    }();
    return bytes;
}

}  // namespace pleat::fuzz
