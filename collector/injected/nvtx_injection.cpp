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

// A wide text as UTF-8; null is the empty text.
class Utf8 {
  public:
    explicit Utf8(const wchar_t* wide)
        : m_length(wide == nullptr ? 0 : wideToUtf8(wide, m_buffer, sizeof m_buffer)) {}
    [[nodiscard]] std::string_view view() const { return {m_buffer, m_length}; }

  private:
    char m_buffer[kMaximumTextBytes];
    std::size_t m_length;
};

EventName handleName(nvtxStringHandle_t handle) { return {stringOf(handle), {}}; }
nvtxStringHandle_t stringHandle(std::string_view text) {
    return reinterpret_cast<nvtxStringHandle_t>(
        std::uintptr_t{internText(text, TextUse::Handle).id});
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
            m_size + sizeof block + size > sizeof m_bytes) {
            m_cut = m_cut || size != 0;
            return;
        }
        std::memcpy(m_bytes + m_size, &block, sizeof block);
        std::memcpy(m_bytes + m_size + sizeof block, bytes, size);
        m_size += sizeof block + size;
    }
    void add(const nvtxPayloadData_t* data, std::size_t count) {
        for (std::size_t i = 0; data != nullptr && i < count; ++i)
            add(data[i].schemaId, PayloadType::Schema, data[i].payload, data[i].size);
    }
    void giveTo(EventInput& event) const {
        event.payload = {m_bytes, m_size};
        event.payloadCut = m_cut;
    }

  private:
    char m_bytes[4096];
    std::size_t m_size = 0;
    bool m_cut = false;
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
        if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
            event.name = handleName(attributes->message.registered);
        addPayload(*attributes, payload);
        payload.giveTo(event);
        if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
            const Utf8 text(attributes->message.unicode);
            event.name = nameOf(text.view());
            return use(event);
        }
    }
    return use(event);
}

// The same with what the payload extension brings, and nothing else.
template <class Use>
auto withPayload(std::uint16_t domain, const nvtxPayloadData_t* data, std::size_t count, Use use) {
    PayloadBuffer payload;
    EventInput event;
    event.domain = recordedDomain(domain);
    if (event.domain != kIgnoredDomain) {
        payload.add(data, count);
        payload.giveTo(event);
    }
    return use(event);
}

EventInput named(EventName name) {
    EventInput event;
    event.domain = recordedDomain(kDefaultDomain);
    event.name = name;
    return event;
}

// core
void NVTX_API markEx(const nvtxEventAttributes_t* a) { withEvent(kDefaultDomain, a, mark); }
void NVTX_API markA(const char* text) { mark(named(nameOf(text))); }
void NVTX_API markW(const wchar_t* text) { mark(named(nameOf(Utf8(text).view()))); }
nvtxRangeId_t NVTX_API rangeStartEx(const nvtxEventAttributes_t* a) {
    return withEvent(kDefaultDomain, a, start);
}
nvtxRangeId_t NVTX_API rangeStartA(const char* text) { return start(named(nameOf(text))); }
nvtxRangeId_t NVTX_API rangeStartW(const wchar_t* text) {
    return start(named(nameOf(Utf8(text).view())));
}
void NVTX_API rangeEnd(nvtxRangeId_t id) { end(id, {}); }
int NVTX_API rangePushEx(const nvtxEventAttributes_t* a) {
    return withEvent(kDefaultDomain, a, push);
}
int NVTX_API rangePushA(const char* text) { return push(named(nameOf(text))); }
int NVTX_API rangePushW(const wchar_t* text) { return push(named(nameOf(Utf8(text).view()))); }
int NVTX_API rangePop() { return pop(named({})); }
void NVTX_API nameCategoryA(std::uint32_t category, const char* name) {
    defineCategory(kDefaultDomain, category, name == nullptr ? "" : name);
}
void NVTX_API nameCategoryW(std::uint32_t category, const wchar_t* name) {
    defineCategory(kDefaultDomain, category, Utf8(name).view());
}
void NVTX_API nameOsThreadA(std::uint32_t thread, const char* name) {
    defineThreadName(thread, name == nullptr ? "" : name);
}
void NVTX_API nameOsThreadW(std::uint32_t thread, const wchar_t* name) {
    defineThreadName(thread, Utf8(name).view());
}

// core2
void NVTX_API domainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    withEvent(domainOf(d), a, mark);
}
nvtxRangeId_t NVTX_API domainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return withEvent(domainOf(d), a, start);
}
void NVTX_API domainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id, {}); }
int NVTX_API domainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return withEvent(domainOf(d), a, push);
}
int NVTX_API domainRangePop(nvtxDomainHandle_t d) { return withEvent(domainOf(d), nullptr, pop); }
void NVTX_API domainNameCategoryA(nvtxDomainHandle_t d, std::uint32_t category, const char* name) {
    defineCategory(domainOf(d), category, name == nullptr ? "" : name);
}
void NVTX_API domainNameCategoryW(nvtxDomainHandle_t d, std::uint32_t category,
                                  const wchar_t* name) {
    defineCategory(domainOf(d), category, Utf8(name).view());
}
nvtxStringHandle_t NVTX_API registerStringA(nvtxDomainHandle_t, const char* text) {
    return stringHandle(text == nullptr ? "" : text);
}
nvtxStringHandle_t NVTX_API registerStringW(nvtxDomainHandle_t, const wchar_t* text) {
    return stringHandle(Utf8(text).view());
}
nvtxDomainHandle_t NVTX_API domainCreateA(const char* name) {
    return domainHandle(defineDomain(name == nullptr ? "" : name));
}
nvtxDomainHandle_t NVTX_API domainCreateW(const wchar_t* name) {
    return domainHandle(defineDomain(Utf8(name).view()));
}

// payload extension
std::uint64_t NVTX_API schemaRegister(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t* schema) {
    if (schema == nullptr) return 0;
    const bool ownId = (schema->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0 &&
                       schema->schemaId != 0;
    const std::uint64_t id = ownId ? schema->schemaId : nextSchemaId();
    defineSchema(id, LayoutText(*schema).view());
    return id;
}
int NVTX_API rangePushPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data,
                              std::size_t count) {
    return withPayload(domainOf(d), data, count, push);
}
int NVTX_API rangePopPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data,
                             std::size_t count) {
    return withPayload(domainOf(d), data, count, pop);
}
nvtxRangeId_t NVTX_API rangeStartPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data,
                                         std::size_t count) {
    return withPayload(domainOf(d), data, count, start);
}
void NVTX_API rangeEndPayload(nvtxDomainHandle_t d, nvtxRangeId_t id, const nvtxPayloadData_t* data,
                              std::size_t count) {
    withPayload(domainOf(d), data, count, [id](const EventInput& event) { end(id, event); });
}
void NVTX_API markPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, std::size_t count) {
    withPayload(domainOf(d), data, count, mark);
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
    set(table, size, NVTX_CBID_CORE_NameCategoryA, nameCategoryA);
    set(table, size, NVTX_CBID_CORE_NameCategoryW, nameCategoryW);
    set(table, size, NVTX_CBID_CORE_NameOsThreadA, nameOsThreadA);
    set(table, size, NVTX_CBID_CORE_NameOsThreadW, nameOsThreadW);
}

void setDomains(NvtxFunctionTable table, unsigned int size) {
    set(table, size, NVTX_CBID_CORE2_DomainMarkEx, domainMarkEx);
    set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domainRangeStartEx);
    set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domainRangeEnd);
    set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domainRangePushEx);
    set(table, size, NVTX_CBID_CORE2_DomainRangePop, domainRangePop);
    set(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, domainNameCategoryA);
    set(table, size, NVTX_CBID_CORE2_DomainNameCategoryW, domainNameCategoryW);
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
        put(NVTX3EXT_CBID_nvtxRangeStartPayload, rangeStartPayload);
        put(NVTX3EXT_CBID_nvtxRangeEndPayload, rangeEndPayload);
        put(NVTX3EXT_CBID_nvtxDomainIsEnabled, domainIsEnabled);
    }
    return 1;
}
