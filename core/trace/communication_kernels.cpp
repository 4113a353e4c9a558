#include "trace/communication_kernels.h"

#include <cxxabi.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "trace/categories.h"
#include "trace/communication_table.h"

namespace pleat::trace {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool isLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string demangled(std::string_view name) {
    if (!name.starts_with("_Z")) return std::string(name);
    const std::string text(name);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && plain ? std::string(plain.get()) : text;
}

// "void a::b<c>(d)" is "a::b", "%all-reduce.1 = f32[8] all-reduce(x)" is "%all-reduce".
std::string withoutTypes(std::string_view name) {
    if (const std::size_t is = name.find(" = "); is != std::string_view::npos)
        name = name.substr(0, is);
    std::string bare;
    int depth = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const char c = name[at];
        if (c == '<') ++depth;
        if (depth == 0 && c == '(') {
            if (!name.substr(at).starts_with(kAnonymous)) {
                if (bare.find_first_not_of(' ') != std::string::npos) break;
                continue;
            }
            at += kAnonymous.size() - 1;
            continue;
        }
        if (depth == 0) bare += c;
        if (c == '>' && depth > 0) --depth;
    }
    while (!bare.empty() && bare.back() == ' ') bare.pop_back();
    // XLA numbers its operations.
    const std::size_t number = bare.find_last_not_of("0123456789");
    if (number != std::string::npos && bare[number] == '.') bare.resize(number);
    const std::size_t space = bare.rfind(' ');
    return space == std::string::npos ? bare : bare.substr(space + 1);
}

// Does a word begin at `at`? "ncclDevKernel" has three, and "NCCLKernel" two.
bool beginsWord(std::string_view text, std::size_t at) {
    if (at == 0 || !isUpper(text[at])) return false;
    if (isLower(text[at - 1])) return true;
    return isUpper(text[at - 1]) && at + 1 < text.size() && isLower(text[at + 1]);
}

// Words that are written as one, at the head of a word: what follows is a word of its own
// ("allreduce2stage").
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kCompounds = {{
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"alltoall", "all_to_all"},
    {"all2all", "all_to_all"},
    {"a2a", "all_to_all"},
    {"sendrecv", "send_recv"},
    {"oneshot", "one_shot"},
    {"twoshot", "two_shot"},
}};

void addWord(std::string& words, std::string_view word) {
    for (const auto& [compound, apart] : kCompounds) {
        if (!word.starts_with(compound)) continue;
        words += apart;
        words += '_';
        word.remove_prefix(compound.size());
        break;
    }
    if (word.empty()) return;
    words += word;
    words += '_';
}

bool holds(std::string_view words, std::string_view pattern) {
    std::size_t from = 0;
    while (true) {
        const std::size_t star = pattern.find('*');
        const std::string_view piece = pattern.substr(0, star);
        const std::size_t found = words.find(piece, from);
        if (found == std::string_view::npos) return false;
        if (star == std::string_view::npos) return true;
        // A boundary may belong to two pieces: "_userbuffers_*_rs_".
        from = found + piece.size() - (piece.ends_with('_') ? 1 : 0);
        pattern.remove_prefix(star + 1);
    }
}

struct Row {
    std::string_view pattern;
    std::optional<Operation> operation;  // nothing: what the words say
    bool computes = false;
    Dimension dimension = Dimension::Other;
};

const std::vector<Row>& rows() {
    static const std::vector<Row> all = [] {
        std::vector<Row> list;
        for (const CommunicationRow& row : communicationTable()) {
            list.push_back({row.pattern, parseOperation(row.operation), row.operation == "none",
                            parseDimension(row.dimension).value_or(Dimension::Other)});
        }
        return list;
    }();
    return all;
}

}  // namespace

std::string wordsOfKernel(std::string_view name) {
    const std::string bare = withoutTypes(demangled(name));
    std::string words = "::_", word;
    const auto endWord = [&] {
        addWord(words, word);
        word.clear();
    };
    for (std::size_t at = 0; at < bare.size(); ++at) {
        const char c = bare[at];
        if (isUpper(c) || isLower(c) || isDigit(c)) {
            // "A2A" is one word: a digit before does not end it.
            if (beginsWord(bare, at)) endWord();
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            continue;
        }
        endWord();
        if (c == ':' && at + 1 < bare.size() && bare[at + 1] == ':') {
            ++at;
            if (!words.ends_with("::_")) words += "::_";
        }
    }
    endWord();
    words += "::";
    // "moeAlltoAllKernel"
    constexpr std::string_view kSplit = "_allto_all_";
    if (const std::size_t split = words.find(kSplit); split != std::string::npos)
        words.replace(split, kSplit.size(), "_all_to_all_");
    return words;
}

std::optional<Operation> operationInWords(std::string_view words) {
    // In this order: an all-reduce may be said to be a reduce, then a broadcast.
    static constexpr std::array<std::pair<std::string_view, Operation>, 14> kSaid = {{
        {"_all_reduce_", Operation::AllReduce},
        {"_reduce_scatter_", Operation::ReduceScatter},
        {"_all_gather_", Operation::AllGather},
        {"_all_to_all_", Operation::AllToAll},
        {"_broadcast_", Operation::Broadcast},
        {"_bcast_", Operation::Broadcast},
        {"_barrier_", Operation::Barrier},
        {"_send_recv_", Operation::Other},
        {"_dispatch_", Operation::AllToAll},
        {"_combine_", Operation::AllToAll},
        {"_reduce_", Operation::Reduce},
        {"_send_", Operation::Send},
        {"_recv_", Operation::Receive},
        {"_fcollect_", Operation::AllGather},
    }};
    for (const auto& [part, operation] : kSaid) {
        if (words.find(part) != std::string_view::npos) return operation;
    }
    return std::nullopt;
}

std::optional<CommunicationKernel> communicationKernel(std::string_view name) {
    const std::string words = wordsOfKernel(name);
    for (const Row& row : rows()) {
        if (!holds(words, row.pattern)) continue;
        if (row.computes) return std::nullopt;
        return CommunicationKernel{
            row.operation ? *row.operation : operationInWords(words).value_or(Operation::Other),
            row.dimension};
    }
    return std::nullopt;
}

bool categories::isCommunicationKernel(std::string_view name) {
    return communicationKernel(name).has_value();
}

}  // namespace pleat::trace
