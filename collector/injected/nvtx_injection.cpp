// The library NVTX loads into a program (NVTX_INJECTION64_PATH): turns its callbacks into events of
// the calling thread. The one file of the C callback interfaces: core, core2 (domains) and the
// payload extension. Source: nvtx3 headers.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "collector/injected/schema_layout.h"
#include "collector/injected/thread_events.h"
#include "collector/text.h"

namespace {

using namespace pleat::collector;

// Handles are numbers in disguise: programs never look inside.
std::uint16_t domainOf(nvtxDomainHandle_t handle) {
    return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(handle));
}
nvtxDomainHandle_t domainHandle(std::uint16_t domain) {
    return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{domain});
}
std::uint32_t stringOf(nvtxStringHandle_t handle) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
}

// Calls `use` with the wide text as UTF-8; null is the empty text.
template <class Use>
auto withUtf8(const wchar_t* wide, Use use) {
    char buffer[kMaximumTextBytes];
    const std::size_t length = wide == nullptr ? 0 : wideToUtf8(wide, buffer, sizeof buffer);
    return use(std::string_view(buffer, length));
}

std::uint32_t wideNameOf(const wchar_t* wide) {
    return withUtf8(wide, [](std::string_view text) { return internText(text); });
}

std::uint16_t recordedDomain(std::uint16_t domain) {
    return isRecorded(domain) ? domain : kIgnoredDomain;
}

// Payload blocks of one event on the stack of the callback.
class PayloadBuffer {
  public:
    void add(std::uint64_t schema, PayloadType type, const void* bytes, std::size_t size) {
        const PayloadBlock block{schema, type, static_cast<std::uint32_t>(size)};
        if (bytes == nullptr || size > sizeof m_bytes ||
            m_size + sizeof block + size > sizeof m_bytes)
            return;
        std::memcpy(m_bytes + m_size, &block, sizeof block);
        std::memcpy(m_bytes + m_size + sizeof block, bytes, size);
        m_size += sizeof block + size;
    }
    void add(const nvtxPayloadData_t* data, std::size_t count) {
        for (std::size_t i = 0; data != nullptr && i < count; ++i)
            add(data[i].schemaId, PayloadType::Schema, data[i].payload, data[i].size);
    }
    [[nodiscard]] std::string_view view() const { return {m_bytes, m_size}; }

  private:
    char m_bytes[1024];
    std::size_t m_size = 0;
};

void addPayload(const nvtxEventAttributes_t& attributes, PayloadBuffer& buffer) {
    switch (attributes.payloadType) {
        case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        case NVTX_PAYLOAD_TYPE_INT64:
        case NVTX_PAYLOAD_TYPE_DOUBLE:
            return buffer.add(0, static_cast<PayloadType>(attributes.payloadType),
                              &attributes.payload, 8);
        case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        case NVTX_PAYLOAD_TYPE_INT32:
        case NVTX_PAYLOAD_TYPE_FLOAT:
            return buffer.add(0, static_cast<PayloadType>(attributes.payloadType),
                              &attributes.payload, 4);
        default:
            break;
    }
    if (attributes.payloadType != NVTX_PAYLOAD_TYPE_EXT) return;
    const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(attributes.payload.ullValue);
    buffer.add(data, static_cast<std::size_t>(std::max(attributes.reserved0, 0)));
}

// Calls `use` with the event the attributes describe, if its domain is recorded.
template <class Use>
auto withEvent(std::uint16_t domain, const nvtxEventAttributes_t* attributes, Use use) {
    PayloadBuffer payload;
    EventInput event;
    event.domain = recordedDomain(domain);
    if (attributes != nullptr && event.domain != kIgnoredDomain) {
        event.category = attributes->category;
        if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII)
            event.name = nameOf(attributes->message.ascii);
        if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE)
            event.name = wideNameOf(attributes->message.unicode);
        if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
            event.name = stringOf(attributes->message.registered);
        addPayload(*attributes, payload);
        event.payload = payload.view();
    }
    return use(event);
}

EventInput named(std::uint32_t name) {
    EventInput event;
    event.domain = recordedDomain(kDefaultDomain);
    event.name = name;
    return event;
}

// core
void NVTX_API markEx(const nvtxEventAttributes_t* a) { withEvent(kDefaultDomain, a, mark); }
void NVTX_API markA(const char* text) { mark(named(nameOf(text))); }
void NVTX_API markW(const wchar_t* text) { mark(named(wideNameOf(text))); }
nvtxRangeId_t NVTX_API rangeStartEx(const nvtxEventAttributes_t* a) {
    return withEvent(kDefaultDomain, a, start);
}
nvtxRangeId_t NVTX_API rangeStartA(const char* text) { return start(named(nameOf(text))); }
nvtxRangeId_t NVTX_API rangeStartW(const wchar_t* text) { return start(named(wideNameOf(text))); }
void NVTX_API rangeEnd(nvtxRangeId_t id) { end(id); }
int NVTX_API rangePushEx(const nvtxEventAttributes_t* a) {
    return withEvent(kDefaultDomain, a, push);
}
int NVTX_API rangePushA(const char* text) { return push(named(nameOf(text))); }
int NVTX_API rangePushW(const wchar_t* text) { return push(named(wideNameOf(text))); }
int NVTX_API rangePop() { return pop(recordedDomain(kDefaultDomain)); }
void NVTX_API nameOsThreadA(std::uint32_t thread, const char* name) {
    defineThreadName(thread, name == nullptr ? "" : name);
}
void NVTX_API nameOsThreadW(std::uint32_t thread, const wchar_t* name) {
    withUtf8(name, [thread](std::string_view text) { defineThreadName(thread, text); });
}

// core2
void NVTX_API domainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    withEvent(domainOf(d), a, mark);
}
nvtxRangeId_t NVTX_API domainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return withEvent(domainOf(d), a, start);
}
void NVTX_API domainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }
int NVTX_API domainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return withEvent(domainOf(d), a, push);
}
int NVTX_API domainRangePop(nvtxDomainHandle_t d) { return pop(recordedDomain(domainOf(d))); }
nvtxStringHandle_t NVTX_API registerStringA(nvtxDomainHandle_t, const char* text) {
    return reinterpret_cast<nvtxStringHandle_t>(std::uintptr_t{nameOf(text)});
}
nvtxStringHandle_t NVTX_API registerStringW(nvtxDomainHandle_t, const wchar_t* text) {
    return reinterpret_cast<nvtxStringHandle_t>(std::uintptr_t{wideNameOf(text)});
}
nvtxDomainHandle_t NVTX_API domainCreateA(const char* name) {
    return domainHandle(defineDomain(name == nullptr ? "" : name));
}
nvtxDomainHandle_t NVTX_API domainCreateW(const wchar_t* name) {
    return domainHandle(withUtf8(name, defineDomain));
}

// payload extension
std::uint64_t NVTX_API schemaRegister(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t* schema) {
    if (schema == nullptr) return 0;
    const bool ownId = (schema->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0 &&
                       schema->schemaId != 0;
    const std::uint64_t id = ownId ? schema->schemaId : nextSchemaId();
    defineSchema(id, describeLayout(*schema));
    return id;
}
int NVTX_API rangePushPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data,
                              std::size_t count) {
    PayloadBuffer payload;
    payload.add(data, count);
    return push({recordedDomain(domainOf(d)), 0, 0, payload.view()});
}
int NVTX_API rangePopPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t*, std::size_t) {
    return domainRangePop(d);
}
void NVTX_API markPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, std::size_t count) {
    PayloadBuffer payload;
    payload.add(data, count);
    mark({recordedDomain(domainOf(d)), 0, 0, payload.view()});
}
std::uint8_t NVTX_API domainIsEnabled(nvtxDomainHandle_t d) {
    return isRecorded(domainOf(d)) ? 1 : 0;
}

template <class Function>
void set(NvtxFunctionTable table, unsigned int size, unsigned int slot, Function function) {
    if (slot < size && table[slot] != nullptr)
        *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void setCore(NvtxFunctionTable table, unsigned int size) {
    set(table, size, NVTX_CBID_CORE_MarkEx, markEx);
    set(table, size, NVTX_CBID_CORE_MarkA, markA);
    set(table, size, NVTX_CBID_CORE_MarkW, markW);
    set(table, size, NVTX_CBID_CORE_RangeStartEx, rangeStartEx);
    set(table, size, NVTX_CBID_CORE_RangeStartA, rangeStartA);
    set(table, size, NVTX_CBID_CORE_RangeStartW, rangeStartW);
    set(table, size, NVTX_CBID_CORE_RangeEnd, rangeEnd);
    set(table, size, NVTX_CBID_CORE_RangePushEx, rangePushEx);
    set(table, size, NVTX_CBID_CORE_RangePushA, rangePushA);
    set(table, size, NVTX_CBID_CORE_RangePushW, rangePushW);
    set(table, size, NVTX_CBID_CORE_RangePop, rangePop);
    set(table, size, NVTX_CBID_CORE_NameOsThreadA, nameOsThreadA);
    set(table, size, NVTX_CBID_CORE_NameOsThreadW, nameOsThreadW);
}

void setDomains(NvtxFunctionTable table, unsigned int size) {
    set(table, size, NVTX_CBID_CORE2_DomainMarkEx, domainMarkEx);
    set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domainRangeStartEx);
    set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domainRangeEnd);
    set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domainRangePushEx);
    set(table, size, NVTX_CBID_CORE2_DomainRangePop, domainRangePop);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, registerStringA);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, registerStringW);
    set(table, size, NVTX_CBID_CORE2_DomainCreateA, domainCreateA);
    set(table, size, NVTX_CBID_CORE2_DomainCreateW, domainCreateW);
}

[[gnu::destructor]] void unload() { sayGoodbye(); }

}  // namespace

extern "C" NVTX_DYNAMIC_EXPORT int NVTX_API
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
    if (!recorderPresent() || getExportTable == nullptr) return 0;
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(getExportTable(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr) return 0;
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) != 0)
        setCore(table, size);
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 0)
        setDomains(table, size);
    return 1;
}

extern "C" NVTX_DYNAMIC_EXPORT int NVTX_API
InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
    if (!recorderPresent() || module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID)
        return 0;
    for (std::size_t s = 0; s < module->segmentsCount; ++s) {
        const nvtxExtModuleSegment_t& segment = module->segments[s];
        const auto put = [&](std::size_t slot, auto function) {
            if (slot < segment.slotCount)
                segment.functionSlots[slot] = reinterpret_cast<std::intptr_t>(function);
        };
        put(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, schemaRegister);
        put(NVTX3EXT_CBID_nvtxMarkPayload, markPayload);
        put(NVTX3EXT_CBID_nvtxRangePushPayload, rangePushPayload);
        put(NVTX3EXT_CBID_nvtxRangePopPayload, rangePopPayload);
        put(NVTX3EXT_CBID_nvtxDomainIsEnabled, domainIsEnabled);
    }
    return 1;
}
