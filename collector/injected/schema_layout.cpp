#include "collector/injected/schema_layout.h"

#include <cstddef>
#include <cstdio>

namespace pleat::collector {
namespace {

constexpr std::uint64_t kArrayFlags = 7U << 4;  // which kind of array an entry is, 0: none

struct Scalar {
    char type;  // as in payload_layout.h; 0: known size, not described
    std::size_t bytes;
};

Scalar scalarOf(std::uint64_t type) {
    switch (type) {
        case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
            return {'t', 1};
        case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
            return {'i', 1};
        case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
        case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
        case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
            return {'u', 1};
        case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
        case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
            return {'i', 2};
        case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
        case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
            return {'u', 2};
        case NVTX_PAYLOAD_ENTRY_TYPE_INT:
        case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
            return {'i', 4};
        case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
        case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
            return {'u', 4};
        case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
        case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
        case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
            return {'i', 8};
        case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
        case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
        case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
        case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
        case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
            return {'u', 8};
        case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
        case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
            return {'f', 4};
        case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
        case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
            return {'f', 8};
        case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
        case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
        case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
            return {0, 8};
        default:
            return {0, 0};
    }
}

// A C string with a length lies in the payload itself, NUL-padded; without one it is a pointer.
bool isCString(std::uint64_t type) {
    return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

}  // namespace

bool LayoutText::addLine(char type, std::size_t position, std::size_t bytes, const char* name) {
    const std::size_t room = sizeof m_text - m_size;
    const int written =
        std::snprintf(m_text + m_size, room, "%c %zu %zu %s\n", type, position, bytes, name);
    if (written < 0 || static_cast<std::size_t>(written) >= room) return false;
    m_size += static_cast<std::size_t>(written);
    return true;
}

LayoutText::LayoutText(const nvtxPayloadSchemaAttr_t& schema) {
    std::size_t position = 0;
    for (std::size_t i = 0; schema.entries != nullptr && i < schema.numEntries; ++i) {
        const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
        Scalar scalar = scalarOf(entry.type);
        const bool embedded = isCString(entry.type) && entry.arrayOrUnionDetail > 0;
        if (embedded) scalar = {'t', 1};
        const std::uint64_t array = entry.flags & kArrayFlags;
        const bool fixed = embedded || array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
        const bool plain = array == 0 && !embedded;
        if (scalar.bytes == 0 || (!fixed && !plain)) {
            if (entry.offset == 0) break;  // what follows cannot be placed
            continue;
        }
        const std::size_t bytes = fixed ? scalar.bytes * entry.arrayOrUnionDetail : scalar.bytes;
        position = entry.offset != 0 ? entry.offset
                                     : (position + scalar.bytes - 1) / scalar.bytes * scalar.bytes;
        const bool describable =
            scalar.type != 0 && entry.name != nullptr && (plain || scalar.type == 't');
        if (describable && !addLine(scalar.type, position, bytes, entry.name)) return;
        position += bytes;
    }
}

}  // namespace pleat::collector
