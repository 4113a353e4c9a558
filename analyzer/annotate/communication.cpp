#include "annotate/communication.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/saturating.h"
#include "trace/communication_kernels.h"

namespace pleat::annotate {
namespace {

using Json = nlohmann::json;
using trace::Operation;

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// Lower case without anything but letters: "_Reduce_Scatter_base" is "reducescatterbase".
std::string letters(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

// In this order: "allreduce" holds "reduce".
constexpr std::array<std::pair<std::string_view, Operation>, 12> kCollectives = {{
    {"allreduce", Operation::AllReduce},
    {"reducescatter", Operation::ReduceScatter},
    {"allgather", Operation::AllGather},
    {"alltoall", Operation::AllToAll},
    {"broadcast", Operation::Broadcast},
    {"barrier", Operation::Barrier},
    {"reduce", Operation::Reduce},
    {"isend", Operation::Send},
    {"irecv", Operation::Receive},
    {"send", Operation::Send},
    {"recv", Operation::Receive},
    {"wait", Operation::Other},
}};

std::optional<Operation> operationNamed(std::string_view name) {
    const std::string plain = letters(name);
    if (contains(plain, "sendrecv") || plain == "coalesced") return Operation::Other;
    for (const auto& [part, operation] : kCollectives) {
        if (contains(plain, part)) return operation;
    }
    return std::nullopt;
}

std::int64_t bytesOfType(std::string_view dtype) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 12> kTypes = {{
        {"double", 8},
        {"long", 8},
        {"int64", 8},
        {"bfloat16", 2},
        {"float16", 2},
        {"half", 2},
        {"short", 2},
        {"float", 4},
        {"int", 4},
        {"byte", 1},
        {"char", 1},
        {"bool", 1},
    }};
    std::string plain(dtype);
    std::transform(plain.begin(), plain.end(), plain.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (contains(plain, "float8")) return 1;
    for (const auto& [name, bytes] : kTypes) {
        if (contains(plain, name)) return bytes;
    }
    return 0;
}

std::int64_t integerOf(const Json& object, const char* key, std::int64_t missing) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                               : missing;
}

// -1 where it is missing or larger than any such number.
std::int32_t smallOf(const Json& object, const char* key) {
    const std::int64_t value = integerOf(object, key, -1);
    return std::in_range<std::int32_t>(value) ? static_cast<std::int32_t>(value) : -1;
}

std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (found->is_string()) return found->get<std::string>();
    return found->is_number_integer() ? found->dump() : std::string();
}

// A list of numbers, or such a list as text: "[0, 1]". Empty where it is cut ("[0, 1, ...]").
std::vector<std::int32_t> numbersOf(const Json& object, const char* key) {
    std::vector<std::int32_t> numbers;
    const auto found = object.find(key);
    if (found == object.end()) return numbers;
    const Json list =
        found->is_string() ? Json::parse(found->get<std::string>(), nullptr, false) : *found;
    if (!list.is_array()) return numbers;
    for (const Json& number : list) {
        if (!number.is_number_integer() || !std::in_range<std::int32_t>(number.get<std::int64_t>()))
            return {};
        numbers.push_back(number.get<std::int32_t>());
    }
    return numbers;
}

}  // namespace

Operation operationOfKernel(std::string_view name) {
    return trace::communicationKernel(name).value_or(trace::CommunicationKernel()).operation;
}

bool endsTogether(Operation operation, std::string_view kernelName) {
    const bool symmetric = operation == Operation::AllReduce || operation == Operation::AllGather ||
                           operation == Operation::ReduceScatter ||
                           operation == Operation::AllToAll;
    return symmetric && !contains(kernelName, "TREE") && !contains(kernelName, "Tree");
}

std::optional<Operation> operationOfAnnotation(std::string_view name, std::int32_t& peer) {
    if (!name.starts_with("nccl:")) return std::nullopt;
    name.remove_prefix(5);
    const std::size_t arrow = std::min(name.find("->"), name.find("<-"));
    if (arrow != std::string_view::npos) {
        std::from_chars(name.data() + arrow + 2, name.data() + name.size(), peer);
    }
    return operationNamed(name.substr(0, name.find(' '))).value_or(Operation::Other);
}

bool readCommunication(std::string_view arguments, Communication& found) {
    const Json object = Json::parse(arguments, nullptr, false);
    if (!object.is_object()) return false;
    const std::string collective = textOf(object, "Collective name");
    found.communicator = textOf(object, "Comms Id");
    if (found.communicator.empty()) found.communicator = textOf(object, "comms_id");
    found.bytes = integerOf(object, "bytes", 0);
    if (!collective.empty()) found.operation = operationNamed(collective);
    const std::int64_t elements =
        std::max(integerOf(object, "In msg nelems", 0), integerOf(object, "Out msg nelems", 0));
    if (elements > 0)
        found.bytes = base::saturatingProduct(elements, bytesOfType(textOf(object, "dtype")));
    found.group = textOf(object, "Process Group Name");
    found.description = textOf(object, "Process Group Description");
    found.groupRanks = numbersOf(object, "Process Group Ranks");
    found.groupSize = std::max(smallOf(object, "Group size"), 0);
    found.sequence = integerOf(object, "Seq", -1);
    found.peer = std::max(smallOf(object, "Dst Rank"), smallOf(object, "peer"));
    if (found.operation == Operation::Receive && object.contains("Src Rank"))
        found.peer = smallOf(object, "Src Rank");
    return found.operation.has_value() || !found.communicator.empty();
}

std::optional<Operation> operationOfXla(std::string_view arguments) {
    if (!contains(arguments, "\"hlo_")) return std::nullopt;
    const Json object = Json::parse(arguments, nullptr, false);
    if (!object.is_object()) return std::nullopt;
    for (const char* key : {"hlo_category", "hlo_op"}) {
        std::string said = textOf(object, key);
        std::replace(said.begin(), said.end(), ' ', '_');  // "reduce-scatter fusion" is one name
        if (const auto kernel = trace::communicationKernel(said)) return kernel->operation;
    }
    return std::nullopt;
}

}  // namespace pleat::annotate
