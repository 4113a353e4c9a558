// The one file that includes NVTX.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "instrumented_runtime/markers.h"

namespace pleat::runtime {
namespace {

std::uint64_t payloadType(payload::FieldType type) {
    switch (type) {
        case payload::FieldType::Int32:
            return NVTX_PAYLOAD_ENTRY_TYPE_INT32;
        case payload::FieldType::Int64:
            return NVTX_PAYLOAD_ENTRY_TYPE_INT64;
        case payload::FieldType::Text:
            return NVTX_PAYLOAD_ENTRY_TYPE_CHAR;
    }
    return NVTX_PAYLOAD_ENTRY_TYPE_INVALID;
}

class Domain {
  public:
    explicit Domain(std::string_view name)
        : m_domain(nvtxDomainCreateA(std::string(name).c_str())) {}

    std::uint64_t registerSchema(const char* name, std::span<const payload::Field> fields,
                                 std::size_t size) const {
        std::vector<nvtxPayloadSchemaEntry_t> entries;
        for (const payload::Field& field : fields) {
            nvtxPayloadSchemaEntry_t entry{};
            entry.type = payloadType(field.type);
            entry.name =
                field.name
                    .data();  // the table's names are literals, so NUL-terminated and permanent
            if (field.type == payload::FieldType::Text) {
                entry.flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
                entry.arrayOrUnionDetail = field.size;
            }
            entry.offset = field.offset;
            entries.push_back(entry);
        }
        nvtxPayloadSchemaAttr_t schema{};
        schema.fieldMask =
            NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
            NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
            NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
        schema.name = name;
        schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
        schema.entries = entries.data();
        schema.numEntries = entries.size();
        schema.payloadStaticSize = size;
        return nvtxPayloadSchemaRegister(m_domain, &schema);
    }

    MarkerName registeredName(std::string_view text) {
        const std::lock_guard lock(m_mutex);
        auto [found, added] = m_names.try_emplace(std::string(text), nullptr);
        if (added) found->second = nvtxDomainRegisterStringA(m_domain, found->first.c_str());
        return found->second;
    }

    template <class Payload>
    void push(MarkerName name, std::uint64_t schema, const Payload& content) const {
        const nvtxPayloadData_t data{schema, sizeof(content), &content};
        const nvtxEventAttributes_t event = attributes(name, data);
        nvtxDomainRangePushEx(m_domain, &event);
    }
    template <class Payload>
    void mark(MarkerName name, std::uint64_t schema, const Payload& content) const {
        const nvtxPayloadData_t data{schema, sizeof(content), &content};
        const nvtxEventAttributes_t event = attributes(name, data);
        nvtxDomainMarkEx(m_domain, &event);
    }
    void pop() const { nvtxDomainRangePop(m_domain); }

  private:
    static nvtxEventAttributes_t attributes(MarkerName name, const nvtxPayloadData_t& data) {
        nvtxEventAttributes_t event{};
        event.version = NVTX_VERSION;
        event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        // NVTX names its own opaque handle; MarkerName only hides its type.
        event.message.registered = static_cast<nvtxStringHandle_t>(const_cast<void*>(name));
        event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
        event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
        event.reserved0 = 1;  // number of payloads
        return event;
    }

    nvtxDomainHandle_t m_domain;
    std::mutex m_mutex;  // guards m_names
    std::unordered_map<std::string, nvtxStringHandle_t> m_names;
};

class NvtxMarkers final : public Markers {
  public:
    MarkerName taskName(std::string_view text) override { return m_tasks.registeredName(text); }
    MarkerName transferName(std::string_view text) override {
        return m_transfers.registeredName(text);
    }

    void nameThread(const std::string& name) override {
        nvtxNameOsThreadA(static_cast<std::uint32_t>(::syscall(SYS_gettid)), name.c_str());
        constexpr std::size_t kKernelLimit = 15;
        ::pthread_setname_np(::pthread_self(), name.substr(0, kKernelLimit).c_str());
    }
    void announceRank(const payload::RankPayload& rank) override {
        m_tasks.mark(m_rankName, m_rankSchema, rank);
    }
    void announceGroup(const payload::ProcessGroupPayload& group) override {
        m_tasks.mark(m_groupName, m_groupSchema, group);
    }
    void pushTask(MarkerName name, const payload::TaskPayload& task) override {
        m_tasks.push(name, m_taskSchema, task);
    }
    void pushPhase(MarkerName name, const payload::IterationPayload& iteration) override {
        m_tasks.push(name, m_iterationSchema, iteration);
    }
    void popTask() override { m_tasks.pop(); }
    void pushTransfer(MarkerName name, const payload::TransferPayload& transfer) override {
        m_transfers.push(name, m_transferSchema, transfer);
    }
    void popTransfer() override { m_transfers.pop(); }

  private:
    Domain m_tasks{payload::kTaskDomain};
    Domain m_transfers{payload::kTransferDomain};
    MarkerName m_rankName = m_tasks.registeredName(payload::kRank);
    MarkerName m_groupName = m_tasks.registeredName(payload::kProcessGroup);
    std::uint64_t m_taskSchema =
        m_tasks.registerSchema("task", payload::kTaskFields, sizeof(payload::TaskPayload));
    std::uint64_t m_iterationSchema = m_tasks.registerSchema("iteration", payload::kIterationFields,
                                                             sizeof(payload::IterationPayload));
    std::uint64_t m_rankSchema =
        m_tasks.registerSchema("rank", payload::kRankFields, sizeof(payload::RankPayload));
    std::uint64_t m_groupSchema = m_tasks.registerSchema(
        "process_group", payload::kProcessGroupFields, sizeof(payload::ProcessGroupPayload));
    std::uint64_t m_transferSchema = m_transfers.registerSchema(
        "transfer", payload::kTransferFields, sizeof(payload::TransferPayload));
};

}  // namespace

std::unique_ptr<Markers> makeNvtxMarkers() { return std::make_unique<NvtxMarkers>(); }

}  // namespace pleat::runtime
