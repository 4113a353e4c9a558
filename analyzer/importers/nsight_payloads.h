// NVTX payloads as members of a flat JSON object. An export keeps them as bytes (binaryData, with
// nsys export --include-blobs true) described by two schema tables, or as JSON text. NCCL's fields
// get the names below, other programs' keep their own:
//   "NCCL communicator ID" comms_id (decimal text: half of the ids exceed 63 bits)
//   "Message size [bytes]" bytes      "Reduction operation" reduction (sum, product, max, min, avg)
//   "Peer rank" peer                  "Root" root
//   "No. of ranks" ranks              "Rank" rank            "CUDA device" device
// Layout of the bytes: 64-bit domain, schema, payload size, offset or total size; then the payload
// (little-endian). Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/nsight_source.h"

namespace pleat::importers {

class NsightPayloads {
  public:
    [[nodiscard]] static base::Result<NsightPayloads> open(const NsightSource& source);

    // Does a schema of this domain have NCCL's fields?
    [[nodiscard]] bool isNccl(std::int64_t domain) const { return m_ncclDomains.contains(domain); }
    // `"name":value` members, comma-separated; empty where nothing could be read. `data` is raw, or
    // hexadecimal text as some converters leave it.
    [[nodiscard]] std::string fromBytes(std::int64_t domain, std::string_view data) const;
    [[nodiscard]] std::string fromJson(std::string_view text) const;

  private:
    struct Field {
        std::string name;  // as in the trace
        std::int64_t type = 0;
        std::size_t offset = 0;
        std::size_t length = 0;  // of an array of characters, else 0
    };
    using SchemaKey = std::pair<std::int64_t, std::int64_t>;  // (domain, schema)
    [[nodiscard]] base::Result<void> readSchemas(const NsightSource& source);
    [[nodiscard]] base::Result<void> readEnumerations(const NsightSource& source);
    [[nodiscard]] std::string value(std::int64_t domain, const Field& field,
                                    std::string_view payload) const;

    std::map<SchemaKey, std::map<std::int64_t, Field>> m_schemas;  // fields by position
    std::map<SchemaKey, std::map<std::int64_t, std::string>> m_enumerations;
    std::set<std::int64_t> m_ncclDomains;
};

}  // namespace pleat::importers
