// A small instrumented program for the recorder's tests; the first argument says what it does.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

nvtxEventAttributes_t emptyAttributes() {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return attributes;
}

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
    nvtxEventAttributes_t attributes = emptyAttributes();
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = -7;
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxMarkW(L"wide \u00e4\u4e16");
    nvtxMarkA("bad \xff utf8 \"quoted\"");
    char buffer[32];
    for (int i = 0; i < 3; ++i) {
        std::snprintf(buffer, sizeof buffer, "name %d", i);
        nvtxMarkA(buffer);
    }
    nvtxNameOsThreadA(static_cast<unsigned>(gettid()), "chief");
}

// Slowly enough for the ring to be emptied on the way.
void manyNames(int count) {
    for (int i = 0; i < count; ++i) {
        nvtxMarkA(("step " + std::to_string(i)).c_str());
        if (i % 500 == 0) usleep(1'000);
    }
    usleep(100'000);
    nvtxDomainMarkEx(nvtxDomainCreateA("late domain"), nullptr);
}

int ringsMapped(const std::string& process) {
    std::ifstream maps("/proc/" + process + "/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.find(".ring") != std::string::npos) ++count;
    }
    return count;
}

// Prints how many rings are mapped here and in the recorder, our parent, when all threads but one
// have ended.
void shortThreads(int count) {
    for (int i = 0; i < count; ++i) std::thread([] { nvtxMarkA("short"); }).join();
    nvtxMarkA("main");
    usleep(200'000);
    std::printf("%d %d\n", ringsMapped("self"), ringsMapped(std::to_string(getppid())));
}

void deepRanges(int depth) {
    for (int i = 0; i < depth; ++i) nvtxRangePushA("deep");
    for (int i = 0; i < depth; ++i) nvtxRangePop();
}

void waitForChild() {
    int status = 0;
    wait(&status);
}

struct Payload {
    std::int32_t iteration;
    double loss;
    char text[8];
    char fixed[8];
};

std::uint64_t registerPayload(nvtxDomainHandle_t domain) {
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
    return nvtxPayloadSchemaRegister(domain, &schema);
}

void payload() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
    const std::uint64_t id = registerPayload(domain);
    const Payload value{3, 0.5, "a\"b", "dp"};
    const nvtxPayloadData_t data{id, sizeof value, &value};
    nvtxEventAttributes_t attributes = emptyAttributes();
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "with payload";
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
}

// Ranges whose payload comes with their start, their end or both; one too large to take.
void extendedPayloads() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
    const std::uint64_t id = registerPayload(domain);
    const Payload first{1, 0.25, "a", "b"};
    const nvtxPayloadData_t data{id, sizeof first, &first};
    nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, nullptr, 0), &data, 1);
    nvtxRangePushPayload(domain, &data, 1);
    nvtxDomainRangePop(domain);
    const std::vector<char> large(8192);
    const nvtxPayloadData_t tooLarge{id, large.size(), large.data()};
    nvtxMarkPayload(domain, &tooLarge, 1);
}

void categories() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own domain");
    nvtxDomainNameCategoryA(domain, 7, "kernel");
    nvtxEventAttributes_t attributes = emptyAttributes();
    for (const std::uint32_t category : {7U, 8U}) {
        attributes.category = category;
        nvtxDomainMarkEx(domain, &attributes);
    }
}

// A forked child goes on with the handles its parent was given.
void forkWithHandles() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("of the parent");
    nvtxEventAttributes_t attributes = emptyAttributes();
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    const std::uint64_t id = registerPayload(domain);
    const nvtxRangeId_t open = nvtxDomainRangeStartEx(domain, &attributes);
    if (fork() == 0) {
        const Payload value{5, 1, "", ""};
        const nvtxPayloadData_t data{id, sizeof value, &value};
        attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        attributes.reserved0 = 1;
        attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
        const nvtxRangeId_t own = nvtxDomainRangeStartEx(domain, &attributes);
        nvtxMarkA("new in the child");
        nvtxDomainRangeEnd(domain, own);
        std::exit(0);
    }
    waitForChild();
    nvtxDomainRangeEnd(domain, open);
}

// Everything for which the library may need memory. Allocates nothing itself.
void allCallbacks() {
    nvtxRangePushA("outer");
    nvtxNameOsThreadA(static_cast<std::uint32_t>(getpid()), "chief");
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own domain");
    nvtxEventAttributes_t attributes = emptyAttributes();
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainNameCategoryA(domain, 3, "a category with a rather long name");
    const nvtxRangeId_t range = nvtxRangeStartW(L"a range with a rather long name");
    nvtxPayloadSchemaEntry_t entry{};
    entry.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    entry.name = "a_number_with_a_rather_long_name";
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    schema.entries = &entry;
    schema.numEntries = 1;
    (void)nvtxPayloadSchemaRegister(domain, &schema);
    char name[] = "a made-up name with a number that changes: 00";
    for (int i = 0; i < 20; ++i) {
        name[sizeof name - 2] = static_cast<char>('a' + i);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
    nvtxRangeEnd(range);
    nvtxDomainRangePop(domain);
    nvtxRangePop();
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
        waitForChild();
        nvtxMarkA("parent again");
    }
    if (what == "children") {
        for (int i = 0; i < count; ++i) {
            if (fork() == 0) {
                nvtxRangePushA("child");
                nvtxRangePop();
                _exit(0);
            }
            waitForChild();
        }
    }
    if (what == "long") nvtxMarkA(std::string(5'000, 'x').c_str());
    if (what == "names") manyNames(count);
    if (what == "short") shortThreads(count);
    if (what == "deep") deepRanges(count);
    if (what == "extended") extendedPayloads();
    if (what == "categories") categories();
    if (what == "handles") forkWithHandles();
    if (what == "leave") {
        nvtxMarkA("before");
        _exit(count);
    }
    if (what == "exec") {
        nvtxMarkA("first image");
        execl("/proc/self/exe", "nvtx_program", "text", nullptr);
    }
    if (what == "callbacks") allCallbacks();
    if (what == "exit") return count;
    if (what == "silent") return 0;
    return 0;
}

}  // namespace

int main(int argumentCount, char** arguments) {
    const std::string what = argumentCount > 1 ? arguments[1] : "pairs";
    return run(what, argumentCount > 2 ? std::atoi(arguments[2]) : 10);
}
