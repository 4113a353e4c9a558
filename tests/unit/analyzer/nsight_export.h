// Nsight exports as a test needs them: the tables of a real one with a few rows.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "unit/store/sqlite_client.h"

namespace pleat::test {

class NsightExport {
  public:
    explicit NsightExport(std::filesystem::path file) : m_file(std::move(file)) {
        m_sql = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'), (2,'gemm'),
  (3,'ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)'),
  (4,'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, systemClockNs INTEGER);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, value TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER,
  int64Value INTEGER, jsonText TEXT, binaryData TEXT);
)";
    }

    NsightExport& sql(const std::string& statements) { return m_sql += statements + ";\n", *this; }
    NsightExport& host(const std::string& name) {
        return sql(fmt::format("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ({},'','Hostname','{}')",
                               kVirtualMachine, name));
    }
    NsightExport& sessionStart(std::int64_t utc_ns, const std::string& systemClock = "NULL") {
        return sql(fmt::format("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({},{})", utc_ns,
                               systemClock));
    }
    NsightExport& gpu(int id, const std::string& uuid) {
        return sql(fmt::format("INSERT INTO TARGET_INFO_GPU VALUES ({},'H100','{}')", id, uuid));
    }
    NsightExport& variable(const std::string& text) {
        return sql(fmt::format(
            "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE','{}')", text));
    }
    // A kernel and its call 10 us earlier; `name` is an id of StringIds.
    NsightExport& kernel(std::int64_t pid, int device, std::int64_t start, std::int64_t end,
                         int name = 2, int stream = 7) {
        const std::int64_t process = kVirtualMachine + pid * kThreads;
        ++m_correlation;
        sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({},{},0,{},{},1)",
                        start - 10'000, start - 5'000, process + pid, m_correlation));
        return sql(fmt::format(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({},{},{},1,{},{},{},{},{},NULL)", start,
            end, device, stream, m_correlation, process, name, name));
    }
    // A range of the process's only thread, with a payload as JSON.
    NsightExport& range(std::int64_t pid, std::int64_t start, std::int64_t end,
                        const std::string& name, const std::string& json = "") {
        return sql(fmt::format(
            "INSERT INTO NVTX_EVENTS VALUES ({},{},59,'{}',{},NULL,NULL,0,NULL,{},NULL)", start,
            end, name, kVirtualMachine + pid * kThreads + pid,
            json.empty() ? std::string("NULL") : "'" + json + "'"));
    }
    // Writes the file; once, at the end.
    std::filesystem::path write() {
        executeSql(m_file, "BEGIN;" + m_sql + "COMMIT;");
        return m_file;
    }

    static constexpr int kGemm = 2, kTree = 3, kRing = 4;

  private:
    static constexpr std::int64_t kThreads = 0x1000000;
    static constexpr std::int64_t kVirtualMachine = std::int64_t{1} << 48;
    std::filesystem::path m_file;
    std::string m_sql;
    int m_correlation = 0;
};

}  // namespace pleat::test
