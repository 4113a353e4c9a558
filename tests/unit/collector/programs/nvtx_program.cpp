// A small instrumented program for the recorder's tests; the first argument says what it does.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void pushPop(int pairs) {
    for (int i = 0; i < pairs; ++i) {
        nvtxRangePushA("outer");
        nvtxRangePushA("inner");
        nvtxRangePop();
        nvtxRangePop();
    }
}

void threads(int count, int pairs) {
    std::vector<std::thread> all;
    for (int i = 0; i < count; ++i) all.emplace_back([pairs] { pushPop(pairs / 2); });
    for (std::thread& thread : all) thread.join();
}

void startHereEndThere() {
    const nvtxRangeId_t id = nvtxRangeStartA("crossing");
    std::thread([id] {
        nvtxMarkA("on the other thread");
        nvtxRangeEnd(id);
    }).join();
}

void domainsAndText() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own domain");
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = -7;
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxMarkW(L"wide \u00e4\u4e16");
    nvtxMarkA("bad \xff utf8 \"quoted\"");
    char buffer[16];
    for (int i = 0; i < 3; ++i) {
        std::snprintf(buffer, sizeof buffer, "name %d", i);
        nvtxMarkA(buffer);
    }
    nvtxNameOsThreadA(static_cast<unsigned>(gettid()), "chief");
}

struct Payload {
    std::int32_t iteration;
    double loss;
    char text[8];
    char fixed[8];
};

void payload() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
    const nvtxPayloadSchemaEntry_t entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "iteration", nullptr, 0, offsetof(Payload, iteration),
         nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "loss", nullptr, 0, offsetof(Payload, loss), nullptr,
         nullptr},
        {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "text", nullptr, 8,
         offsetof(Payload, text), nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "fixed", nullptr, 8, offsetof(Payload, fixed), nullptr,
         nullptr},
    };
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema.entries = entries;
    schema.numEntries = 4;
    schema.payloadStaticSize = sizeof(Payload);
    const std::uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
    const Payload value{3, 0.5, "a\"b", "dp"};
    const nvtxPayloadData_t data{id, sizeof value, &value};
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "with payload";
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
}

int run(const std::string& what, int count) {
    if (what == "pairs") pushPop(count / 2);
    if (what == "threads") threads(4, count);
    if (what == "crossing") startHereEndThere();
    if (what == "text") domainsAndText();
    if (what == "payload") payload();
    if (what == "unbalanced") {
        nvtxRangePushA("open at exit");
        nvtxRangePushA("closed");
        nvtxRangePop();
        std::thread([] { nvtxRangePop(); }).join();
    }
    if (what == "killed") {
        pushPop(count / 2);
        raise(SIGKILL);
    }
    if (what == "fork") {
        nvtxMarkA("parent");
        if (fork() == 0) {
            nvtxMarkA("child");
            std::exit(0);
        }
        int status = 0;
        wait(&status);
        nvtxMarkA("parent again");
    }
    if (what == "exit") return count;
    if (what == "silent") return 0;
    return 0;
}

}  // namespace

int main(int argumentCount, char** arguments) {
    const std::string what = argumentCount > 1 ? arguments[1] : "pairs";
    return run(what, argumentCount > 2 ? std::atoi(arguments[2]) : 10);
}
