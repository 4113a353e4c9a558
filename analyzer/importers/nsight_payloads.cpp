#include "importers/nsight_payloads.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace pleat::importers {
namespace {

using enum ColumnNeed;
constexpr NsightColumn kEntryColumns[] = {{"domainId", Required}, {"schemaId", Required},
                                          {"idx", Required},      {"type", Required},
                                          {"name", Required},     {"offset", Required},
                                          {"flags", Optional},    {"arrayOrUnionDetail", Optional}};
constexpr NsightSection kEntries{"payload_schemas", "NVTX_PAYLOAD_SCHEMA_ENTRIES", kEntryColumns,
                                 ""};
constexpr NsightColumn kEnumColumns[] = {
    {"domainId", Required}, {"schemaId", Required}, {"name", Required}, {"value", Required}};
constexpr NsightSection kEnums{"payload_enumerations", "NVTX_PAYLOAD_ENUM_ENTRIES", kEnumColumns,
                               ""};

// Of nvToolsExtPayload.h (NVTX 3.1).
constexpr std::int64_t kStaticSchemas = 1 << 24;
constexpr std::int64_t kFixedSizeArray = 1 << 4;
constexpr std::size_t kHeaderBytes = 32;
constexpr std::int64_t kChar = 1;

constexpr std::string_view kCommunicator = "NCCL communicator ID";
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNcclNames = {
    {{kCommunicator, "comms_id"},
     {"Message size [bytes]", "bytes"},
     {"Reduction operation", "reduction"},
     {"Peer rank", "peer"},
     {"Root", "root"},
     {"No. of ranks", "ranks"},
     {"Rank", "rank"},
     {"CUDA device", "device"}}};
// ncclRedOp_t, where the export has no names for it.
constexpr std::array<std::string_view, 5> kReductions = {"sum", "product", "max", "min", "avg"};

std::string_view traceName(std::string_view name) {
    for (const auto& [theirs, ours] : kNcclNames) {
        if (name == theirs) return ours;
    }
    return name;
}

std::string jsonString(std::string_view text) {
    using nlohmann::json;
    return json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string lowered(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    return lower;
}

// NVTX_PAYLOAD_ENTRY_TYPE_*: 'i' signed, 'u' unsigned, 'f' real; bytes. Text by reference and
// types a trace has no use for are '-'.
struct Scalar {
    char kind = '-';
    std::size_t bytes = 0;
};

Scalar scalarOf(std::int64_t type) {
    constexpr std::array<Scalar, 24> kByType = {
        {{'-', 0}, {'i', 1}, {'u', 1}, {'i', 2}, {'u', 2}, {'i', 4}, {'u', 4}, {'i', 8},
         {'u', 8}, {'i', 8}, {'u', 8}, {'i', 1}, {'u', 1}, {'i', 2}, {'u', 2}, {'i', 4},
         {'u', 4}, {'i', 8}, {'u', 8}, {'f', 4}, {'f', 8}, {'-', 0}, {'u', 8}, {'u', 8}}};
    if (type >= 0 && type < static_cast<std::int64_t>(kByType.size()))
        return kByType[static_cast<std::size_t>(type)];
    if (type == 32) return {'u', 1};              // BYTE
    if (type == 43) return {'f', 4};              // FLOAT32
    if (type == 44) return {'f', 8};              // FLOAT64
    if (type >= kStaticSchemas) return {'i', 4};  // an enumeration: a C enum
    return {};
}

template <class T>
T load(std::string_view bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::uint64_t loadUnsigned(std::string_view bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
}

std::int64_t loadSigned(std::string_view bytes) {
    const auto shift = static_cast<int>(64 - 8 * bytes.size());
    return static_cast<std::int64_t>(loadUnsigned(bytes) << shift) >> shift;
}

std::string fromHexadecimal(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        unsigned value = 0;
        const char* pair = text.data() + i;
        if (std::from_chars(pair, pair + 2, value, 16).ptr != pair + 2) return {};
        bytes += static_cast<char>(value);
    }
    return bytes;
}

// Collects the scalars of a JSON text, at whatever depth: how exports nest them is not documented.
class MemberSink : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit MemberSink(std::string& members) : m_members(members) {}
    bool null() override { return true; }
    bool boolean(bool value) override { return add(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { return add(fmt::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override { return add(fmt::to_string(value)); }
    bool number_float(number_float_t value, const string_t&) override {
        return !std::isfinite(value) || add(fmt::to_string(value));
    }
    bool string(string_t& value) override { return add(jsonString(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t& value) override { return m_key = traceName(value), true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }

  private:
    // A name once: a flat object has one value for it.
    bool add(std::string value) {
        if (m_key.empty() || !m_seen.insert(m_key).second) return true;
        if (m_key == "comms_id" && value.front() != '"') value = '"' + value + '"';
        if (m_key == "reduction") value = lowered(value);
        m_members += (m_members.empty() ? "" : ",") + jsonString(m_key) + ':' + value;
        return true;
    }
    std::string& m_members;
    std::string m_key;
    std::set<std::string> m_seen;
};

}  // namespace

base::Result<NsightPayloads> NsightPayloads::open(const NsightSource& source) {
    NsightPayloads payloads;
    if (const auto read = payloads.readSchemas(source); !read) return read.error();
    if (const auto read = payloads.readEnumerations(source); !read) return read.error();
    return payloads;
}

base::Result<void> NsightPayloads::readSchemas(const NsightSource& source) {
    return forEachRow(source.scan(kEntries), [&](const store::Statement& row) {
        if (row.text(4) == kCommunicator) m_ncclDomains.insert(row.integer(0));
        const bool isArray = (row.integer(6) & kFixedSizeArray) != 0;
        const std::int64_t offset = row.integer(5), length = isArray ? row.integer(7) : 0;
        if (offset < 0 || length < 0 || (isArray && row.integer(3) != kChar)) return;
        // Every process registers its schemas: the same rows come again.
        m_schemas[{row.integer(0), row.integer(1)}].insert_or_assign(
            row.integer(2),
            Field{std::string(traceName(row.text(4))), row.integer(3),
                  static_cast<std::size_t>(offset), static_cast<std::size_t>(length)});
    });
}

base::Result<void> NsightPayloads::readEnumerations(const NsightSource& source) {
    return forEachRow(source.scan(kEnums), [&](const store::Statement& row) {
        m_enumerations[{row.integer(0), row.integer(1)}].insert_or_assign(row.integer(3),
                                                                          lowered(row.text(2)));
    });
}

std::string NsightPayloads::value(std::int64_t domain, const Field& field,
                                  std::string_view payload) const {
    const Scalar scalar = field.length > 0 ? Scalar{'t', field.length} : scalarOf(field.type);
    if (scalar.kind == '-' || field.offset > payload.size() ||
        scalar.bytes > payload.size() - field.offset)
        return {};
    const std::string_view bytes = payload.substr(field.offset, scalar.bytes);
    if (scalar.kind == 't') return jsonString(bytes.substr(0, bytes.find('\0')));
    if (scalar.kind == 'f') {
        const double real = scalar.bytes == 4 ? double{load<float>(bytes)} : load<double>(bytes);
        return std::isfinite(real) ? fmt::to_string(real) : std::string();
    }
    if (scalar.kind == 'u') {
        const std::string number = fmt::to_string(loadUnsigned(bytes));
        return field.name == "comms_id" ? '"' + number + '"' : number;
    }
    const std::int64_t number = loadSigned(bytes);
    if (const auto names = m_enumerations.find({domain, field.type});
        names != m_enumerations.end()) {
        const auto name = names->second.find(number);
        if (name != names->second.end()) return jsonString(name->second);
    }
    if (field.name == "reduction" && field.type >= kStaticSchemas && number >= 0 &&
        number < static_cast<std::int64_t>(kReductions.size()))
        return jsonString(kReductions[static_cast<std::size_t>(number)]);
    return fmt::to_string(number);
}

std::string NsightPayloads::fromBytes(std::int64_t domain, std::string_view data) const {
    std::string decoded;
    const bool isHexadecimal =
        data.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (isHexadecimal) data = decoded = fromHexadecimal(data);
    if (data.size() < kHeaderBytes) return {};
    const auto schema =
        m_schemas.find({domain, static_cast<std::int64_t>(load<std::uint64_t>(data.substr(8)))});
    if (schema == m_schemas.end()) return {};
    const std::string_view payload =
        data.substr(kHeaderBytes, load<std::uint64_t>(data.substr(16)));
    std::string members;
    for (const auto& [position, field] : schema->second) {
        const std::string text = value(domain, field, payload);
        if (text.empty()) continue;
        members += (members.empty() ? "" : ",") + jsonString(field.name) + ':' + text;
    }
    return members;
}

std::string NsightPayloads::fromJson(std::string_view text) const {
    std::string members;
    MemberSink sink(members);
    if (!nlohmann::json::sax_parse(text, &sink)) return {};
    return members;
}

}  // namespace pleat::importers
